"""The SQLite file: opened, migrated, and every fault of it explained."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sentinel.errors import StateError
from sentinel.state.schema import MIGRATIONS, VERSION

__all__ = ["FILE_NAME", "explained", "open_database", "open_database_readonly", "transaction"]

FILE_NAME = "sentinel.db"
_BUSY_SECONDS = 10.0
_HINT_BROKEN = "Move it away: a new one is made; what is lost is memory of past incidents and baselines."
_HINT_UNWRITABLE = "Set state.directory to a directory that this user may write."


def open_database(directory: Path) -> sqlite3.Connection:
    """Open for writing; make the directory, the file and the tables where they are missing. StateError."""
    path = directory / FILE_NAME
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


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What SQLite raises, as a StateError with the path and a hint."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        hint = {
            sqlite3.SQLITE_BUSY: "Another process holds it for long; try again.",
            sqlite3.SQLITE_FULL: "The disk is full.",
            sqlite3.SQLITE_READONLY: "This user may not write there; check owner and mount.",
            sqlite3.SQLITE_CANTOPEN: "This user may not open it, or its directory; check owner and mode.",
        }.get(code, "")
        raise StateError("cannot use the state database", where=str(path), why=str(error), hint=hint) from error
    except sqlite3.DatabaseError as error:
        raise StateError("the state database is broken", where=str(path), why=str(error), hint=_HINT_BROKEN) from error


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
