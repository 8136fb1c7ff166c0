"""The file of the past as a file: which one it is, whether it is ours, and what is said where it is not."""

import sqlite3
from pathlib import Path
from typing import Final

from sentinel.errors import StateError

__all__ = ["FILE_NAME", "VERSION", "archive_fault", "check_version", "identity", "is_broken", "remove", "told"]

FILE_NAME: Final = "history.db"
VERSION: Final = 2
_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def identity(path: Path) -> tuple[int, int] | None:
    """What tells one file from another that is put in its place; None where there is none, or nothing in it."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def check_version(connection: sqlite3.Connection, *, empty: bool = False) -> int:
    """Of its schema; 0 where there is nothing in it, if it may be `empty`. DatabaseError for any other."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and empty and connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        return 0
    if version != VERSION:
        raise sqlite3.DatabaseError(f"its schema is version {version}, this program knows {VERSION}")
    return version


def is_broken(error: sqlite3.Error) -> bool:
    """Whether it says that the file is no database, or none any more."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _BROKEN


def remove(path: Path) -> None:
    """With its log; a link, but not what it leads to. StateError."""
    try:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as error:
        raise StateError("cannot make the history anew", where=str(path), why=str(error.strerror)) from error


def archive_fault(path: Path, error: sqlite3.Error) -> StateError:
    """What a page or a log says of an error of the file."""
    hint = "Delete it: what is lost is what the status page shows of the past."
    return StateError("cannot use the history of the status page", where=str(path), why=str(error), hint=hint)


def told(error: StateError) -> str:
    """What the page says of it: why something may be missing."""
    return f"{error.what}: {error.why}"
