"""The record as a file beside the state: SQLite, of its own, so that it never keeps a tick waiting."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from sentinel.errors import StateError
from sentinel.history.column import Column, RankMeans
from sentinel.history.record import Added
from sentinel.history.roster import Roster
from sentinel.history.strip import Span

__all__ = ["FILE_NAME", "Archive"]

FILE_NAME: Final = "history.db"
_VERSION: Final = 1
_TICK, _BIN = 0, 1
_BUSY_SECONDS: Final = 5.0
_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SCHEMA: Final = (
    "CREATE TABLE communicators (comm TEXT PRIMARY KEY, seen REAL NOT NULL, document BLOB NOT NULL)",
    "CREATE TABLE columns (kind INTEGER NOT NULL, time REAL NOT NULL, comm TEXT NOT NULL, state TEXT NOT NULL,"
    " findings INTEGER NOT NULL, means BLOB NOT NULL, PRIMARY KEY (kind, time, comm))",
)


class Archive:
    """For one thread. StateError when the file cannot be used.

    One that is broken or of another version is made anew.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _fault(self._path, error) from error
            self._remove()
            try:
                self._connection = self._open()
            except sqlite3.Error as again:
                raise _fault(self._path, again) from again

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def rosters(self) -> list[Roster]:
        """Every communicator of which something is kept; what cannot be read is left out."""
        with self._explained():
            rows = self._connection.execute("SELECT document FROM communicators ORDER BY seen").fetchall()
        found = []
        for (document,) in rows:
            try:
                found.append(Roster.read(orjson.loads(document)))
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                continue
        return found

    def ticks(self, since: float) -> Iterator[tuple[str, Column]]:
        """Those after a Unix time, in the order of time."""
        return self._columns(_TICK, since)

    def bins(self, since: float) -> Iterator[tuple[str, Column]]:
        """Those that ended after a Unix time, in the order of time."""
        return self._columns(_BIN, since)

    def write(self, added: Iterable[Added], rosters: Iterable[Roster], now: float, span: Span) -> None:
        """What one tick added and who is in communicators, and without what is too old, in one transaction."""
        with self._explained(), self._connection:
            cursor = self._connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            for roster in rosters:
                document = orjson.dumps(roster.document())
                cursor.execute("INSERT OR REPLACE INTO communicators VALUES (?, ?, ?)", (roster.comm, now, document))
            for each in added:
                self._insert(cursor, _TICK, each.comm, each.tick)
                if each.closed is not None:
                    self._insert(cursor, _BIN, each.comm, each.closed)
                    cursor.execute("UPDATE communicators SET seen = ? WHERE comm = ?", (now, each.comm))
            for kind, seconds in ((_TICK, span.ticks_seconds), (_BIN, span.bins_seconds)):
                cursor.execute("DELETE FROM columns WHERE kind = ? AND time <= ?", (kind, now - seconds))
            cursor.execute("DELETE FROM communicators WHERE seen <= ?", (now - span.bins_seconds,))

    @staticmethod
    def _insert(cursor: sqlite3.Cursor, kind: int, comm: str, column: Column) -> None:
        cursor.execute(
            "INSERT OR REPLACE INTO columns VALUES (?, ?, ?, ?, ?, ?)",
            (kind, column.time, comm, column.state, column.findings, _packed(column.means)),
        )

    def _columns(self, kind: int, since: float) -> Iterator[tuple[str, Column]]:
        with self._explained():
            for time, comm, state, findings, data in self._connection.execute(
                "SELECT time, comm, state, findings, means FROM columns WHERE kind = ? AND time > ? ORDER BY time",
                (kind, since),
            ):
                means = _unpacked(data)
                if means is not None:
                    yield comm, Column(time, state, findings, means)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            version = _known_version(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            # A power cut may undo the last ticks: they are not worth waiting for a disk.
            connection.execute("PRAGMA synchronous = NORMAL")
            if version == 0:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    for statement in _SCHEMA:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StateError("cannot make the history anew", where=str(self._path), why=str(error.strerror)) from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _BROKEN:  # the next one that opens it finds nothing
                self._connection.close()
                self._remove()
            raise _fault(self._path, error) from error


def _known_version(connection: sqlite3.Connection) -> int:
    """Of its schema, 0 where it is empty; DatabaseError for another one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, _VERSION):
        raise sqlite3.DatabaseError(f"its schema is version {version}, this program knows {_VERSION}")
    return version


def _fault(path: Path, error: sqlite3.Error) -> StateError:
    hint = "Delete it: what is lost is what the status page shows of the past."
    return StateError("cannot use the history of the status page", where=str(path), why=str(error), hint=hint)


def _packed(means: RankMeans) -> bytes:
    parts = (means.ranks.astype("<i4"), means.lateness_seconds.astype("<f4"), means.duration_seconds.astype("<f4"))
    return b"".join(part.tobytes() for part in parts)


def _unpacked(data: bytes) -> RankMeans | None:
    """None for what was not packed so."""
    if not isinstance(data, bytes) or len(data) % 12:
        return None
    third = len(data) // 3
    ranks = np.frombuffer(data, "<i4", third // 4).astype(np.int32)
    late, duration = (np.frombuffer(data, "<f4", third // 4, offset=part * third).astype(np.float32) for part in (1, 2))
    if np.any(np.diff(ranks) <= 0):
        return None
    return RankMeans(ranks, late, duration)
