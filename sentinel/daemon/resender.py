"""Alerts go on being sent while a tick takes long, or hangs."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import structlog

from sentinel.daemon.dispatch import Dispatch

__all__ = ["Resender"]

_log = structlog.get_logger()


class Resender:
    """A thread that sends what is due, as a context manager. `clock` gives Unix time."""

    def __init__(self, dispatch: Dispatch, interval_seconds: float, clock: Callable[[], float]) -> None:
        self._dispatch = dispatch
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="resend", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                self._dispatch.resend(self._clock())
            except Exception:
                _log.exception("alerts not sent")
            self._stopped.wait(self._interval_seconds)
