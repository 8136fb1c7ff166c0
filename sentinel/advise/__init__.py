"""What accumulated measurements say about algorithms, protocols and message sizes."""
