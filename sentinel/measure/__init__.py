"""From counters to what detection compares: windows, roles, lateness. Pure."""
