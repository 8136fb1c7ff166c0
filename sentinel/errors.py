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

__all__ = ["ConfigError", "SentinelError", "SinkError", "SourceError", "StateError", "TraceError"]


class SentinelError(Exception):
    """What the caller tried, where, why it failed, and what to do about it.

    `what` is a phrase ("cannot query Prometheus"), `where` a path, URL or key, `why` the cause in one line,
    `hint` a sentence for the person who reads it. Only `what` is required.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str = "", why: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        """One line: what (where): why. Hint."""
        text = self.what
        if self.where:
            text += f" ({self.where})"
        if self.why:
            text += f": {self.why}"
        if self.hint:
            text += f". {self.hint}"
        return text


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
