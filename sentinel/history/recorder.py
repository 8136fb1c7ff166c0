"""Takes what ticks hand over and records it, in a thread of its own: no tick waits for it, and none fails by it."""

import queue
import threading
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Final

import structlog

from sentinel.errors import StateError
from sentinel.history.archive import Archive
from sentinel.history.archive_file import told
from sentinel.history.look import Look
from sentinel.history.record import Record

__all__ = ["DROP_REASONS", "Recorder"]

_log = structlog.get_logger()

DROP_REASONS: Final = ("busy", "error", "full")
"""Ticks that came too fast or could not be recorded; columns past what memory or the file may take."""

_WAITING_LOOKS: Final = 8  # each holds the arrays of a tick
_STOP_SECONDS: Final = 5.0


class Recorder:
    """Reads what the directory's file holds of the time before when the first look comes: then the directory is ours.

    What is left out is counted in the record's `dropped`. `after` is called when a tick's arrays are let go of.
    """

    def __init__(self, record: Record, directory: Path, after: Callable[[], None] = lambda: None) -> None:
        self.record = record
        self.directory = directory
        self._after = after
        self._queue: queue.Queue[Look | None] = queue.Queue(_WAITING_LOOKS)
        self._archive: Archive | None = None
        self._restored = False
        self._written = False  # the file knows everybody
        self._thread: threading.Thread | None = None

    def take(self, look: Look) -> None:
        """Never waits."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="history", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(look)
        except queue.Full:
            self.record.dropped["busy"] += 1

    def settle(self, seconds: float) -> None:
        """Wait until what was handed over is recorded, for that long at most."""
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, seconds)

    def stop(self) -> None:
        """Record what waits, and end."""
        if self._thread is None:
            return
        try:
            self._queue.put(None, timeout=_STOP_SECONDS)
        except queue.Full:
            return
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while (look := self._queue.get()) is not None:
            try:
                self._record(look)
            except Exception:
                self.record.dropped["error"] += 1
                _log.exception("a tick is not in the history of the status page")
            del look  # nobody knows when the next one comes
            self._after()
            self._queue.task_done()
        if self._archive is not None:
            self._archive.close()

    def _record(self, look: Look) -> None:
        try:
            self._open(look.snapshot.time)
        except StateError as error:
            self._lose_archive(error)
        added = self.record.take(look)
        if self._archive is None:
            return
        record, columns = self.record, iter(added)
        rosters = [each.roster for each in added if each.roster is not None]
        if not self._written:  # what it may have missed
            rosters, columns = record.communicators(), chain(added, record.finished())
        try:
            full = self._archive.write(columns, rosters, look.snapshot.time, record.span, record.max_bytes)
        except StateError as error:
            self._lose_archive(error)
        else:
            self._written, record.fault = True, ""
            if full:
                record.dropped["full"] += full

    def _open(self, now: float) -> None:
        if self._archive is not None:
            if self._archive.is_there:
                return
            self._archive.close()
            self._archive, self._written = None, False
        self._archive = Archive(self.directory)
        self._archive.forget_after(now)
        if not self._restored:
            self._restored = True
            span = self.record.span
            since = now - span.ticks_seconds
            self.record.restore(
                self._archive.rosters(since), self._archive.newest_bins(since), self._archive.ticks(since)
            )

    def _lose_archive(self, error: StateError) -> None:
        self.record.dropped["error"] += 1
        self.record.fault = told(error)
        _log.error("the history of the status page is not kept", error=str(error))
        if self._archive is not None:
            self._archive.close()
        self._archive, self._written = None, False
