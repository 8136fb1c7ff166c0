"""Errors that the exporter raises on purpose.

ExporterError says what, where, why, and a hint; at the command line it ends the program (exit 2), as nccl_endpoint's
EndpointError does. SourceError is more exact: a mapped file is not what it should be, which costs that file, never the
scrape.
"""

from nccl_endpoint.errors import ReasonedError

__all__ = ["ExporterError", "SourceError"]


class ExporterError(ReasonedError):
    """The exporter cannot do what it was started for."""


class SourceError(ExporterError):
    """A file that cannot be trusted; `reason` is one of `catalogue.SOURCE_REASONS`, `detail` is for the log."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__("source refused", why=detail)
