"""The daemon: ticks, and what is built from them."""
