# SPDX-License-Identifier: Apache-2.0
"""Errors that are raised on purpose: EndpointError says what, where, why, and a hint; WebConfigError names the key."""

from pathlib import Path

__all__ = ["EndpointError", "WebConfigError"]


class EndpointError(Exception):
    """What was tried, where, why it failed, and what to do about it. Only `what` is required."""

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


class WebConfigError(EndpointError):
    """The web configuration `file` cannot be used; `key` is the path of the key that is to blame, with dots.

    At the start it is fatal; while the server runs, the configuration before stays.
    """

    def __init__(self, file: Path, key: str = "", *, why: str, hint: str = "") -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__("cannot use the web configuration", where=where, why=why, hint=hint)
