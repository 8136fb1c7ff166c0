"""`sentinel top`: what the daemon's API says, live in a terminal."""
