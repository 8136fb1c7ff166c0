"""Alertmanager, all of its replicas."""

import queue
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.sink.alert import Alert
from sentinel.sink.batch import bodies
from sentinel.sink.interface import Delivery
from sentinel.sink.replica import Replica
from sentinel.transport.credentials import tls_context

__all__ = ["AlertmanagerSink"]


class AlertmanagerSink:
    """A `Sink`: every replica is given everything, and works for itself.

    `wake` is called in a replica's thread when there is an outcome to be asked for. ConfigError when a TLS file cannot
    be used.
    """

    def __init__(
        self,
        settings: AlertmanagerSettings,
        wake: Callable[[], None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wake = wake
        self._monotonic = monotonic
        self._outcomes: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
        context = tls_context(settings)
        self._replicas = [Replica(url, settings, context, self._report, monotonic) for url in settings.urls]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Deliver nothing more; a request that is under way ends by itself."""
        for replica in self._replicas:
            replica.close()

    def send(self, alerts: Sequence[Alert]) -> None:
        """Hand them to all replicas."""
        parts = bodies(alerts)
        for replica in self._replicas:
            replica.offer(parts)

    def outcomes(self) -> tuple[Delivery, ...]:
        """What has become of deliveries since this was asked last, in the order in which they ended."""
        return tuple(self._outcomes.get() for _ in range(self._outcomes.qsize()))

    def settle(self, seconds: float) -> None:
        """Wait until no replica has anything to do, for that long at most for all of them together."""
        deadline = self._monotonic() + seconds
        for replica in self._replicas:
            replica.settle(max(0.0, deadline - self._monotonic()))

    def _report(self, delivery: Delivery) -> None:
        self._outcomes.put(delivery)
        self._wake()
