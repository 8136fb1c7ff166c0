"""Detection: arrays and configuration in, verdicts out. No clock, no I/O, no logging."""
