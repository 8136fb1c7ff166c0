# SPDX-License-Identifier: Apache-2.0
"""How errors that are raised on purpose read, here and in what serves with this: what, where, why, and a hint."""

from pathlib import Path

__all__ = ["EndpointError", "ReasonedError", "WebConfigError"]


class ReasonedError(Exception):
    """What the caller tried, where, why it failed, and what to do about it.

    `what` is a phrase ("cannot query Prometheus"), `where` a path, URL or key, `why` the cause in one line,
    `hint` a sentence for the person who reads it. Only `what` is required.
    """

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


class EndpointError(ReasonedError):
    """The server cannot be what it was asked to be."""


class WebConfigError(EndpointError):
    """The web configuration `file` cannot be used; `key` is the path of the key that is to blame, with dots.

    At the start it is fatal; while the server runs, the configuration before stays.
    """

    def __init__(self, file: Path, key: str = "", *, why: str, hint: str = "") -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__("cannot use the web configuration", where=where, why=why, hint=hint)
