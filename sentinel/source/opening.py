"""The source that the configuration names."""

from types import TracebackType
from typing import Protocol, Self

from sentinel.config.metrics_dialect import Dialect
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.vocabulary import Vocabulary
from sentinel.source.inspector import InspectorMemory, InspectorSource
from sentinel.source.interface import Scope, Source
from sentinel.source.prometheus import PrometheusSource
from sentinel.source.prometheus_session import Observe

__all__ = ["Memory", "OpenSource", "open_source"]


Memory = Vocabulary | InspectorMemory
"""What a source knows, and the store does not say again."""


class OpenSource(Source, Protocol):
    """A source that holds connections. With its memory another one goes on as it would."""

    @property
    def memory(self) -> Memory:
        """What it knows by now. It can be pickled."""
        ...

    def __enter__(self) -> Self:
        """Itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        ...


def open_source(
    settings: PrometheusSettings,
    observe: Observe | None = None,
    scope: Scope = Scope.ALL,
    memory: Memory | None = None,
) -> OpenSource:
    """By `prometheus.dialect`. Use it as a context manager, or close it. `memory`: that of one of the same settings."""
    if settings.dialect is Dialect.INSPECTOR:
        # It has no more than collectives.
        return InspectorSource(settings, observe, memory if isinstance(memory, InspectorMemory) else None)
    return PrometheusSource(settings, observe, scope, memory if isinstance(memory, Vocabulary) else None)
