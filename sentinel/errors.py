"""Every error that this package raises on purpose.

    SentinelError
    ├── ConfigError   the configuration or the command line is wrong          (exit 2)
    ├── SourceError   the metrics store failed, or answered what it should not (exit 3)
    ├── SinkError     an alert could not be delivered                          (exit 3)
    ├── StateError    the state directory or its database failed               (exit 2)
    └── TraceError    a recorded trace is not what it should be                (exit 2)

Each says what failed, where and why, and where something can be done about it, a hint.
"""

from typing import ClassVar

from nccl_endpoint.errors import ReasonedError

__all__ = ["ConfigError", "SentinelError", "SinkError", "SourceError", "StateError", "TraceError"]


class SentinelError(ReasonedError):
    """Any of them. `exit_code` is what a command ends with."""

    exit_code: ClassVar[int] = 2


class ConfigError(SentinelError):
    """The configuration file, an environment variable or a flag is wrong."""


class SourceError(SentinelError):
    """The metrics store could not be reached, refused, or answered nonsense."""

    exit_code = 3


class SinkError(SentinelError):
    """An Alertmanager could not be reached, or refused an alert."""

    exit_code = 3


class StateError(SentinelError):
    """The state directory or the database in it cannot be used."""


class TraceError(SentinelError):
    """A recorded trace cannot be read or played."""
