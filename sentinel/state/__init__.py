"""What outlives the process: incidents, baselines, ticks, in one SQLite file."""
