"""The whole chain on one machine, played from a recorded trace, with the real servers."""
