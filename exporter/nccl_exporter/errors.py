"""Errors that the exporter raises on purpose.

ExporterError says what, where, why, and a hint; at the command line it ends the program (exit 2), as nccl_endpoint's
EndpointError does. SourceError is more exact: a mapped file is not what it should be, which costs that file, never the
scrape.
"""

__all__ = ["ExporterError", "SourceError"]


class ExporterError(Exception):
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


class SourceError(ExporterError):
    """A file that cannot be trusted; `reason` is one of `catalogue.SOURCE_REASONS`, `detail` is for the log."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__("source refused", why=detail)
