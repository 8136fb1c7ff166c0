"""What the daemon shows to others, and hears from them, as long as the process lives: over every reload."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sentinel.config.settings import Settings
from sentinel.daemon.display import Display
from sentinel.daemon.figures import Figures
from sentinel.daemon.identity import instance_id
from sentinel.daemon.readiness import fault_of
from sentinel.daemon.tally import Tally
from sentinel.page.answer import missing_page
from sentinel.sink.alert import ALERT_NAMES
from sentinel.sink.heartbeat import HEARTBEAT_NAME, Heartbeat, heartbeat_identity
from sentinel.web.context import Context
from sentinel.web.endpoint import Endpoint, Pages
from sentinel.web.exposition import exposition
from sentinel.web.webhook import Webhook

__all__ = ["Front"]

_OWN_NAMES = frozenset({*ALERT_NAMES.values(), HEARTBEAT_NAME})


class Front:
    """The endpoint with what stands behind it. Serves as a context manager; ConfigError when it cannot.

    `context` holds the alerts of others that fire now. `clock` gives Unix time.
    """

    def __init__(
        self,
        settings: Settings,
        tally: Tally,
        clock: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.instance = instance_id(settings.state.directory)
        self.context = Context(settings.web)
        self._started_at = clock()
        webhook = Webhook(heartbeat_identity(self.instance), _OWN_NAMES, self.context, clock)
        self._figures = Figures(settings, self.instance, tally, webhook, self.context)

        def fault() -> str:
            return fault_of(tally, monotonic())

        self.display = Display(settings, tally, self.instance, fault, clock)
        pages = Pages(
            metrics=lambda: exposition(self._figures.samples(clock())),
            fault=fault,
            webhook=webhook,
            more=self.display.pages(),
            missing=missing_page,
        )
        self.endpoint = Endpoint(settings.web, pages)
        self._figures.access = self.endpoint.access

    def __enter__(self) -> Self:
        self.endpoint.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.endpoint.__exit__(kind, error, trace)
        self.display.stop()

    def follow(self, settings: Settings) -> None:
        """Go on with another configuration; on ConfigError all stays as it was."""
        self.endpoint.follow(settings.web)
        self.context.configure(settings.web)
        self.display.follow(settings)
        self._figures.access = self.endpoint.access
        self._figures.settings = settings

    def heartbeat(self, settings: Settings, tick_seconds: float) -> Heartbeat | None:
        """What is to go with every delivery, so that it comes back; None where none is wanted."""
        if not settings.alertmanager.heartbeat:
            return None
        return Heartbeat(self.instance, self._started_at, settings.alertmanager, settings.prometheus, tick_seconds)
