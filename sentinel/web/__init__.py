"""The daemon's own endpoint: its metrics, its health, and what Alertmanager tells it."""
