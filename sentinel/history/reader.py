"""The past as a page asks for it: from the file, a connection for each question, and nothing kept of it."""

import sqlite3
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from sentinel.errors import StateError
from sentinel.history.archive import BIN
from sentinel.history.archive_file import FILE_NAME, archive_fault, check_version, identity, is_broken
from sentinel.history.column import Column, RankMeans, Said
from sentinel.history.packing import unpacked
from sentinel.history.roster import Name, Roster, read_roster

__all__ = ["ArchiveReader", "Loudness"]

_PATIENCE_SECONDS: Final = 5.0  # for the question before
_BUSY_SECONDS: Final = 1.0


class Loudness(NamedTuple):
    """How many bins of a communicator are loud, and when the newest of all ended, Unix seconds."""

    name: Name
    loud: int
    newest: float


class ArchiveReader:
    """For many threads, one question at a time. StateError where the file cannot be read.

    One that is broken is taken away, so that whoever writes it makes it anew: he may never come to the place.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._lock = threading.Lock()

    def roster(self, comm: str) -> Roster | None:
        """Who was in a communicator; None where it is not known."""
        with self._asked() as connection:
            row = connection.execute("SELECT document FROM communicators WHERE comm = ?", (comm,)).fetchone()
        return None if row is None else read_roster(row[0])

    def bins(self, comm: str, since: float) -> list[Column]:
        """Of one communicator, those that ended after a Unix time, in the order of time."""
        found: list[Column] = []
        before: RankMeans | None = None
        with self._asked() as connection:
            for time, state, findings, data in connection.execute(
                "SELECT time, state, findings, means FROM columns WHERE kind = ? AND comm = ? AND time > ?"
                " ORDER BY time",
                (BIN, comm, since),
            ):
                means = unpacked(data, before)
                if means is not None:
                    before = means
                    found.append(Column(time, state, findings, means))
        return found

    def loudness(self, since: float) -> list[Loudness]:
        """Of every communicator with bins after a Unix time."""
        with self._asked() as connection:
            rows = connection.execute(
                "SELECT comm, comm_name, job_id, nranks, loud, newest FROM communicators JOIN ("
                "SELECT comm, sum(findings > 0 OR state = 'stalled') AS loud, max(time) AS newest"
                " FROM columns INDEXED BY columns_by_time WHERE kind = ? AND time > ? GROUP BY comm"
                ") USING (comm)",
                (BIN, since),
            )
            return [Loudness(Name(*name), loud, newest) for *name, loud, newest in rows]

    def said(self, comms: Collection[str], since: float) -> dict[str, list[Said]]:
        """What was said of some communicators in bins after a Unix time, in the order of time."""
        found: dict[str, list[Said]] = {comm: [] for comm in comms}
        query = (
            "SELECT time, comm, state, findings FROM columns INDEXED BY columns_by_time"  # noqa: S608 (question marks)
            f" WHERE kind = ? AND time > ? AND comm IN ({','.join('?' * len(found))}) ORDER BY time"
        )
        with self._asked() as connection:
            for time, comm, state, findings in connection.execute(query, (BIN, since, *found)):
                found[comm].append(Said(time, state, findings))
        return found

    @contextmanager
    def _asked(self) -> Iterator[sqlite3.Connection]:
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise StateError(
                "cannot use the history of the status page",
                where=str(self._path),
                why="it has not answered the question before yet",
            )
        before = identity(self._path)
        try:
            uri = f"{self._path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)) as connection:
                check_version(connection)
                yield connection
        except sqlite3.Error as error:
            if is_broken(error) and identity(self._path) == before:
                with suppress(OSError):
                    self._path.unlink()
            raise archive_fault(self._path, error) from error
        finally:
            self._lock.release()
