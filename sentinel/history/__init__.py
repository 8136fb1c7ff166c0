"""What a page shows over time: lateness and durations by rank, bounded in memory, kept over restarts."""
