"""Asks the daemon beside whoever looks, so that keys never wait for it."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sentinel.errors import SourceError
from sentinel.top.client import DaemonClient
from sentinel.top.reader import Reader
from sentinel.top.seen import Seen, Wants

__all__ = ["Watcher"]


class Watcher:
    """A thread that asks every `interval_seconds`, and for what is `wanted` at once. `wake` is told of news, in it."""

    def __init__(self, client: DaemonClient, interval_seconds: float, wake: Callable[[], None]) -> None:
        self._reader = Reader(client, time.monotonic)
        self._interval_seconds = interval_seconds
        self._wake = wake
        self._wants = Wants()
        self._changed = threading.Condition()
        self._stopped = False
        self._broken: Exception | None = None
        # A daemon thread: who quits does not wait for a daemon that does not answer.
        self._thread = threading.Thread(target=self._work, name="top", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    @property
    def seen(self) -> Seen:
        """What is known now. Raises what nobody thought of: a screen that stands still looks like a calm cluster."""
        if self._broken is not None:
            raise self._broken
        return self._reader.seen

    def want(self, wants: Wants) -> None:
        """From now on look at this."""
        if wants != self._wants:
            with self._changed:
                self._wants = wants
                self._changed.notify_all()

    def _work(self) -> None:
        try:
            self._ask()
        except Exception as error:
            self._broken = error
            self._wake()

    def _ask(self) -> None:
        reader, due = self._reader, 0.0
        while not self._stopped:
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + self._interval_seconds
                    reader.look()
                    self._wake()
                reader.complete(self._wants, self._wake)
            except SourceError as error:
                reader.fail(error)
                self._wake()
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopped or reader.lacks(self._wants), max(0.0, due - time.monotonic())
                )
