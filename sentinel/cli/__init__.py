"""The command line. Data goes to stdout, messages to stderr."""

from sentinel.cli.application import main

__all__ = ["main"]
