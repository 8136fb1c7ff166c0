"""What flows through the daemon: arrays, identities, verdicts. No clock, no I/O."""
