"""Alerts of others that fire now: what else is going on where the jobs run."""

import threading
from collections import OrderedDict
from types import MappingProxyType
from typing import Final

from sentinel.config.web import WebSettings
from sentinel.model.context import ContextAlert
from sentinel.web.notification import NotifiedAlert

__all__ = ["DROP_REASONS", "Context"]

DROP_REASONS: Final = ("size", "full")


class Context:
    """Firing alerts by their labels, bounded in number, size and age; for many threads.

    Where it is full, what is there stays, and what comes is left out until something ends or ages.
    """

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._alerts: OrderedDict[frozenset[tuple[str, str]], ContextAlert] = OrderedDict()  # heard of last: last
        self._dropped = dict.fromkeys(DROP_REASONS, 0)
        self._lock = threading.Lock()

    def configure(self, settings: WebSettings) -> None:
        """Other limits, for what comes from now on."""
        with self._lock:
            self._settings = settings

    def take(self, alert: NotifiedAlert, now: float) -> None:
        """What Alertmanager says of one alert at the Unix time `now`."""
        key = frozenset(alert.labels.items())
        with self._lock:
            self._forget(now)
            before = self._alerts.pop(key, None)
            if not alert.firing:
                return
            if sum(len(name.encode()) + len(value.encode()) for name, value in key) > self._settings.max_context_labels:
                self._dropped["size"] += 1
            elif before is None and len(self._alerts) >= self._settings.max_context_alerts:
                self._dropped["full"] += 1
            else:
                self._alerts[key] = ContextAlert(MappingProxyType(dict(alert.labels)), alert.starts_at, now)

    def firing(self, now: float) -> tuple[ContextAlert, ...]:
        """Those that fire at the Unix time `now`, the one heard of last at the end."""
        with self._lock:
            self._forget(now)
            return tuple(self._alerts.values())

    def dropped(self) -> dict[str, int]:
        """How many were not kept, by reason."""
        with self._lock:
            return dict(self._dropped)

    def _forget(self, now: float) -> None:
        oldest = now - self._settings.max_context_age.total_seconds()
        while self._alerts and next(iter(self._alerts.values())).received_at < oldest:
            self._alerts.popitem(last=False)
