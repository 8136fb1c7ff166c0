"""The SQLite file: opened, migrated, and every fault of it explained."""

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sentinel.errors import StateError
from sentinel.state.schema import MIGRATIONS, VERSION

__all__ = [
    "FILE_NAME",
    "BrokenStateError",
    "copy_database",
    "explained",
    "hint_of",
    "make_directory",
    "move_away",
    "open_database",
    "open_database_readonly",
    "transaction",
]

FILE_NAME = "sentinel.db"
_BUSY_SECONDS = 10.0
_HINT_BROKEN = "Move it away: a new one is made; what is lost is memory of past incidents and baselines."
_HINT_UNWRITABLE = "Set state.directory to a directory that this user may write."
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class BrokenStateError(StateError):
    """What is in the database's place is none, or none of ours: a new one can be made, and nothing more is lost."""


def make_directory(directory: Path) -> None:
    """Where it is missing; its parent has to be there. StateError."""
    try:
        directory.mkdir(mode=0o750, exist_ok=True)
    except FileNotFoundError as error:
        is_there = directory.parent.is_dir()  # as in /proc, where nothing can be made
        hint = f"Create {directory.parent}, or set state.directory."
        raise StateError(
            "no state directory",
            where=str(directory),
            why=str(error.strerror) if is_there else "its parent does not exist",
            hint=_HINT_UNWRITABLE if is_there else hint,
        ) from None
    except OSError as error:
        raise StateError(
            "no state directory", where=str(directory), why=str(error.strerror), hint=_HINT_UNWRITABLE
        ) from error


def open_database(directory: Path) -> sqlite3.Connection:
    """Open for writing; make the directory, the file and the tables where they are missing. StateError."""
    path = directory / FILE_NAME
    make_directory(directory)
    with explained(path):
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # One commit a tick: a power cut must not undo an incident whose alert has been sent.
            connection.execute("PRAGMA synchronous = FULL")
            _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def copy_database(directory: Path) -> sqlite3.Connection:
    """A copy in memory, up to date, of a database that is there and cannot be opened for writing. StateError."""
    path = directory / FILE_NAME
    with explained(path):
        memory = sqlite3.connect(":memory:", isolation_level=None)
        try:
            try:
                _copy(path, "mode=ro", memory)
            except sqlite3.OperationalError:
                # Nowhere to keep the index of its log: what is only in the log is lost, of the last ticks at most.
                _copy(path, "mode=ro&immutable=1", memory)
            _migrate(memory, path)
        except BaseException:
            memory.close()
            raise
    return memory


def _copy(path: Path, mode: str, memory: sqlite3.Connection) -> None:
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as connection:
        connection.backup(memory)


def open_database_readonly(directory: Path) -> sqlite3.Connection | None:
    """Open for reading beside a running daemon; None when there is no database yet. StateError."""
    path = directory / FILE_NAME
    try:
        if not path.exists():
            return None
    except OSError as error:
        raise StateError("cannot read the state", where=str(path), why=str(error.strerror)) from error
    with explained(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        try:
            _refuse_other(_version(connection), path)
        except BaseException:
            connection.close()
            raise
    return connection


def move_away(directory: Path) -> Path:
    """Give the database another name, in place of what had that name before: there is one at most. StateError."""
    path, away = directory / FILE_NAME, directory / f"{FILE_NAME}.broken"
    try:
        for suffix in ("", "-wal", "-shm"):
            away.with_name(away.name + suffix).unlink(missing_ok=True)
            if (part := path.with_name(path.name + suffix)).exists():
                part.replace(away.with_name(away.name + suffix))
    except OSError as error:
        raise StateError("cannot move the state away", where=str(path), why=str(error.strerror)) from error
    return away


def hint_of(error: sqlite3.Error, busy: str) -> str:
    """What to do about an error of SQLite's; `busy`: where another process has the file. Empty where nobody knows."""
    return {
        sqlite3.SQLITE_BUSY: busy,
        sqlite3.SQLITE_FULL: "The disk is full.",
        sqlite3.SQLITE_READONLY: "This user may not write there; check owner and mount.",
        sqlite3.SQLITE_CANTOPEN: "This user may not open it, or its directory; check owner and mode.",
    }.get(error.sqlite_errorcode & 0xFF, "")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What SQLite raises, as a StateError with the path and a hint."""
    try:
        yield
    except sqlite3.OperationalError as error:
        hint = hint_of(error, "Another process holds it for long; try again.")
        raise StateError("cannot use the state database", where=str(path), why=str(error), hint=hint) from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in _BROKEN:
            raise StateError("cannot use the state database", where=str(path), why=str(error)) from error
        raise BrokenStateError(
            "the state database is broken", where=str(path), why=str(error), hint=_HINT_BROKEN
        ) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """All or nothing, also when the process is killed at any instant."""
    cursor = connection.cursor()
    cursor.execute("BEGIN IMMEDIATE")
    try:
        yield cursor
    except BaseException:
        if connection.in_transaction:
            cursor.execute("ROLLBACK")
        raise
    cursor.execute("COMMIT")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    _refuse_newer(_version(connection), path)
    if _version(connection) == VERSION:
        return
    with transaction(connection) as cursor:
        # Read again under the lock: another process may have been faster.
        for version in range(_version(connection), VERSION):
            for statement in MIGRATIONS[version]:
                cursor.execute(statement)
        cursor.execute(f"PRAGMA user_version = {VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _refuse_newer(version: int, path: Path) -> None:
    if version > VERSION:
        why = f"its schema is version {version}, this program knows {VERSION}"
        hint = "Run the newer program, or move the file away: a new one is made."
        raise StateError("the state is newer than this program", where=str(path), why=why, hint=hint)


def _refuse_other(version: int, path: Path) -> None:
    _refuse_newer(version, path)
    if version < VERSION:
        why = f"its schema is version {version}, this program needs {VERSION}"
        hint = "Start the daemon once: it brings it up to date."
        raise StateError("the state is older than this program", where=str(path), why=why, hint=hint)
