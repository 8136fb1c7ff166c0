"""The past as a file beside the state: SQLite, of its own, so that it never keeps a tick waiting."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson

from sentinel.history.archive_file import (
    FILE_NAME,
    VERSION,
    archive_fault,
    check_version,
    identity,
    is_broken,
    remove,
)
from sentinel.history.column import Column, RankMeans
from sentinel.history.packing import packed, unpacked
from sentinel.history.record import Added
from sentinel.history.roster import Roster, read_roster
from sentinel.history.strip import Span

__all__ = ["BIN", "TICK", "Archive"]

TICK, BIN = 0, 1
_BUSY_SECONDS: Final = 5.0
_MOST_LOG_BYTES: Final = 4 << 20
_SCHEMA: Final = (
    "CREATE TABLE communicators (comm TEXT PRIMARY KEY, seen REAL NOT NULL, comm_name TEXT NOT NULL,"
    " job_id TEXT NOT NULL, nranks INTEGER NOT NULL, document BLOB NOT NULL)",
    "CREATE TABLE columns (kind INTEGER NOT NULL, comm TEXT NOT NULL, time REAL NOT NULL, state TEXT NOT NULL,"
    " findings INTEGER NOT NULL, means BLOB NOT NULL, PRIMARY KEY (kind, comm, time))",
    # For what is too old, and for what was said of everybody: that needs no row.
    "CREATE INDEX columns_by_time ON columns (kind, time, comm, state, findings)",
)


class Archive:
    """For one thread. StateError when the file cannot be used.

    One that is broken or of another version is made anew.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        if identity(self._path) is None:
            remove(self._path)  # a log without its file is nobody's
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise archive_fault(self._path, error) from error
            remove(self._path)
            try:
                self._connection = self._open()
            except sqlite3.Error as again:
                raise archive_fault(self._path, again) from again
        self._identity = identity(self._path)

    @property
    def is_there(self) -> bool:
        """Whether the file still is where it was opened: one that was taken away would be written for nobody."""
        return self._identity is not None and self._identity == identity(self._path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def rosters(self, since: float) -> list[Roster]:
        """Communicators with a tick after a Unix time; what cannot be read is left out."""
        with self._explained():
            rows = self._connection.execute(
                "SELECT document FROM communicators WHERE comm IN"
                " (SELECT comm FROM columns WHERE kind = ? AND time > ?) ORDER BY seen",
                (TICK, since),
            ).fetchall()
        return [roster for (document,) in rows if (roster := read_roster(document)) is not None]

    def ticks(self, since: float) -> Iterator[tuple[str, Column]]:
        """Those after a Unix time, in the order of time."""
        before: dict[str, RankMeans] = {}
        with self._explained():
            for time, comm, state, findings, data in self._connection.execute(
                "SELECT time, comm, state, findings, means FROM columns WHERE kind = ? AND time > ? ORDER BY time",
                (TICK, since),
            ):
                means = unpacked(data, before.get(comm))
                if means is not None:
                    before[comm] = means
                    yield comm, Column(time, state, findings, means)

    def newest_bins(self, since: float) -> dict[str, float]:
        """By communicator, the end of its newest bin after a Unix time."""
        with self._explained():
            return dict(
                self._connection.execute(
                    "SELECT comm, max(time) FROM columns WHERE kind = ? AND time > ? GROUP BY comm", (BIN, since)
                )
            )

    def forget_after(self, now: float) -> None:
        """What a clock left behind that went ahead of a Unix time: it would keep what comes now from its place."""
        with self._explained():
            self._connection.execute("DELETE FROM columns WHERE time > ?", (now,))

    def write(self, added: Iterable[Added], rosters: Iterable[Roster], now: float, span: Span, max_bytes: int) -> int:
        """What one tick added and who is in communicators, and without what is too old, in one transaction.

        Past `max_bytes` in use the oldest columns go, bins before ticks; how many went.
        """
        with self._explained(), self._connection:
            cursor = self._connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            for roster in rosters:
                cursor.execute(
                    "INSERT OR REPLACE INTO communicators VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        roster.comm,
                        now,
                        roster.comm_name,
                        roster.job_id,
                        roster.nranks,
                        orjson.dumps(roster.document()),
                    ),
                )
            for each in added:
                if each.tick is not None:
                    self._insert(cursor, TICK, each.comm, each.tick)
                for closed in each.closed:
                    self._insert(cursor, BIN, each.comm, closed)
                if each.closed:
                    cursor.execute(
                        "UPDATE communicators SET seen = max(seen, ?) WHERE comm = ?", (each.closed[-1].time, each.comm)
                    )
            for kind, seconds in ((TICK, span.ticks_seconds), (BIN, span.bins_seconds)):
                cursor.execute("DELETE FROM columns WHERE kind = ? AND time <= ?", (kind, now - seconds))
            cursor.execute("DELETE FROM communicators WHERE seen <= ?", (now - span.bins_seconds,))
            return self._shrink(cursor, max_bytes)

    @staticmethod
    def _insert(cursor: sqlite3.Cursor, kind: int, comm: str, column: Column) -> None:
        # A bin that is there was made of all its ticks; one that is made again, of those that are left.
        cursor.execute(
            "INSERT OR IGNORE INTO columns VALUES (?, ?, ?, ?, ?, ?)",
            (kind, comm, column.time, column.state, column.findings, packed(column.means)),
        )

    @staticmethod
    def _shrink(cursor: sqlite3.Cursor, max_bytes: int) -> int:
        went = 0
        for kind in (BIN, TICK):
            while _used_bytes(cursor) > max_bytes:
                found = cursor.execute(
                    "DELETE FROM columns WHERE kind = ? AND time = (SELECT min(time) FROM columns WHERE kind = ?)",
                    (kind, kind),
                ).rowcount
                if found == 0:
                    break
                went += found
        return went

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            version = check_version(connection, empty=True)
            connection.execute("PRAGMA journal_mode = WAL")
            # A power cut may undo the last ticks: they are not worth waiting for a disk.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_MOST_LOG_BYTES}")
            if version == 0:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    for statement in _SCHEMA:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if is_broken(error):  # the next one that opens it finds nothing
                self._connection.close()
                remove(self._path)
            raise archive_fault(self._path, error) from error


def _used_bytes(cursor: sqlite3.Cursor) -> int:
    """Of the file, without pages that are free."""
    pages, free, size = (
        int(cursor.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
