"""What is normal: each rank's lateness and each cell's durations, learnt from history."""
