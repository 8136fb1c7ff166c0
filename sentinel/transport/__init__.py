"""Credentials and TLS for every connection, of sources and sinks alike."""
