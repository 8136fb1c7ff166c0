"""The configuration: one TOML file, the environment over it, flags over both."""
