"""Silences of our alerts, asked for now and then in a thread of their own: no tick waits for the answer."""

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import structlog

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.errors import SentinelError
from sentinel.model.context import Silence
from sentinel.sink.alert import ALERT_NAMES
from sentinel.sink.silences import SilenceReader

__all__ = ["SilenceWatch"]

_log = structlog.get_logger()


class SilenceWatch:
    """Asks once every `alertmanager.resend` while it is entered. `count` is told how each went (`ok`, `error`).

    ConfigError when a TLS file cannot be used.
    """

    def __init__(self, settings: AlertmanagerSettings, count: Callable[[str], None] = lambda _: None) -> None:
        self._reader = SilenceReader(settings, ALERT_NAMES.values())
        self._period_seconds = settings.resend.total_seconds()
        self._wanted = bool(settings.urls)
        self._count = count
        self._latest: Mapping[str, tuple[Silence, ...]] | None = None
        self._stopped = threading.Event()
        # A daemon thread: the end of the process does not wait for an Alertmanager that does not answer.
        self._thread = threading.Thread(target=self._work, name="silences", daemon=True)

    def __enter__(self) -> Self:
        if self._wanted:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()

    def latest(self) -> Mapping[str, tuple[Silence, ...]] | None:
        """By incident id, as the last answer said; None before the first one."""
        return self._latest

    def _work(self) -> None:
        failing = False
        while not self._stopped.is_set():
            try:
                self._latest = self._reader.read()
                failing = False
                self._count("ok")
            except SentinelError as error:
                # Once: whoever watches an Alertmanager that is down is told enough by the deliveries.
                if not failing:
                    _log.warning("silences not read", error=str(error))
                failing = True
                self._count("error")
            except Exception:
                _log.exception("silences not read")
                self._count("error")
            self._stopped.wait(self._period_seconds)
        self._reader.close()
