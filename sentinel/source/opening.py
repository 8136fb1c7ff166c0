"""The source that the configuration names."""

from types import TracebackType
from typing import Protocol, Self

from sentinel.config.metrics_dialect import Dialect
from sentinel.config.prometheus import PrometheusSettings
from sentinel.source.inspector import InspectorSource
from sentinel.source.interface import Source
from sentinel.source.prometheus import PrometheusSource
from sentinel.source.prometheus_session import Observe

__all__ = ["OpenSource", "open_source"]


class OpenSource(Source, Protocol):
    """A source that holds connections."""

    def __enter__(self) -> Self:
        """Itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        ...


def open_source(settings: PrometheusSettings, observe: Observe | None = None) -> OpenSource:
    """By `prometheus.dialect`. Use it as a context manager, or close it."""
    if settings.dialect is Dialect.INSPECTOR:
        return InspectorSource(settings, observe)
    return PrometheusSource(settings, observe)
