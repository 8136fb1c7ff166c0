"""What a long command has done so far, so that one that was killed goes on where it was."""

import hashlib
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from sentinel.errors import StateError
from sentinel.state.database import hint_of, make_directory, transaction

__all__ = ["Part", "WorkFile", "key_of"]

_WHAT = "cannot use the work file"
_FORMAT = 1
_APPLICATION_ID, _ID_OFFSET = 0x6E73776B, 68  # "nswk", where SQLite's header has it
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_TABLES = (
    "CREATE TABLE work (key BLOB NOT NULL)",
    "CREATE TABLE piece (id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, head BLOB NOT NULL,"
    " checksum INTEGER NOT NULL)",
    "CREATE TABLE part (id INTEGER PRIMARY KEY, piece INTEGER NOT NULL, name BLOB NOT NULL, head BLOB NOT NULL,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE INDEX part_by_name ON part (name, piece)",
    "CREATE INDEX part_by_piece ON part (piece)",
)


def key_of(decisive: Mapping[str, Any]) -> bytes:
    """For a `WorkFile`, from all that decides, as JSON has it. A digest: there may be secrets in it."""
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest().encode()


@dataclass(frozen=True)
class Part:
    """Some of what a piece of work gave, under a name."""

    name: bytes
    head: bytes
    data: bytes


class WorkFile:
    """Finished pieces of work, each whole or not there at all, whenever the process is killed.

    `key` is all that decides what a piece gives, beside its own identity: a file of another key, or one that is broken,
    is deleted, and `fault` says so. The file is made with the first piece, and kept until it is removed. One process
    has it at a time. StateError where it cannot be read or written, and, unless the place `is_own`, where there is
    something that no work file ever was.
    """

    def __init__(self, path: Path, key: bytes, *, is_own: bool = True) -> None:
        self._path, self._key = path, key
        self._connection: sqlite3.Connection | None = None
        self.fault = ""
        if self._exists():
            if not is_own:
                self._refuse_others()
            self._reopen()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; it stays."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def remove(self) -> None:
        """Delete it: the work is done."""
        self.close()
        with self._explained():
            for suffix in ("", "-journal"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def pieces(self) -> dict[bytes, int]:
        """The number of each finished piece, by its identity."""
        return dict(self._rows("SELECT identity, id FROM piece"))

    def keep(self, identities: Collection[bytes]) -> None:
        """Forget all other pieces."""
        over = [(number,) for identity, number in self.pieces().items() if identity not in identities]
        if over:
            with self._explained(), transaction(self._opened()) as cursor:
                cursor.executemany("DELETE FROM part WHERE piece = ?", over)
                cursor.executemany("DELETE FROM piece WHERE id = ?", over)

    def add(self, identity: bytes, head: bytes, parts: Iterable[Part]) -> None:
        """A piece is finished."""
        with self._explained(), transaction(self._opened()) as cursor:
            checksum = zlib.crc32(head, zlib.crc32(identity))
            cursor.execute("INSERT INTO piece (identity, head, checksum) VALUES (?, ?, ?)", (identity, head, checksum))
            number = cursor.lastrowid
            cursor.executemany(
                "INSERT INTO part (piece, name, head, data, checksum) VALUES (?, ?, ?, ?, ?)",
                ((number, each.name, each.head, each.data, _checksum(each)) for each in parts),
            )

    def head(self, piece: int) -> bytes:
        """Of a piece, by its number."""
        ((head,),) = self._rows("SELECT head FROM piece WHERE id = ?", piece)
        return bytes(head)

    def names(self) -> list[bytes]:
        """Of all parts, each once."""
        return [name for (name,) in self._rows("SELECT DISTINCT name FROM part")]

    def parts(self, name: bytes) -> list[tuple[int, int, bytes]]:
        """The parts of that name: number of the piece, number of the part, head."""
        return list(self._rows("SELECT piece, id, head FROM part WHERE name = ?", name))

    def data(self, part: int, offset: int, size: int) -> bytes:
        """Some bytes of a part's data, by its number."""
        with self._explained(), self._opened().blobopen("part", "data", part, readonly=True) as blob:
            blob.seek(offset)
            return blob.read(size)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        with self._explained():
            return self._connection.execute(query, values).fetchall()

    def _exists(self) -> bool:
        """An empty one is there where a process was killed as it made it."""
        try:
            return self._path.exists() and not (self._path.is_file() and self._path.stat().st_size == 0)
        except OSError as error:
            raise StateError(_WHAT, where=str(self._path), why=str(error.strerror)) from error

    def _refuse_others(self) -> None:
        with self._explained(), self._path.open("rb") as file:
            start = file.read(_ID_OFFSET + 4)
        if start[_ID_OFFSET:] != _APPLICATION_ID.to_bytes(4, "big"):
            raise StateError(_WHAT, where=str(self._path), why="it is no work file", hint="Name another file.")

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            make_directory(self._path.parent)
            with self._explained():
                self._path.touch(mode=0o600)
            self._connection = self._connect()
            # Few large values, which are written once.
            self._connection.execute("PRAGMA page_size = 65536")
            with transaction(self._connection) as cursor:
                for statement in _TABLES:
                    cursor.execute(statement)
                cursor.execute("INSERT INTO work (key) VALUES (?)", (self._key,))
                cursor.execute(f"PRAGMA user_version = {_FORMAT}")
                cursor.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        return self._connection

    def _reopen(self) -> None:
        with self._explained():
            try:
                self._connection = self._connect()
                self.fault = self._found_fault(self._connection)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in _BROKEN:
                    raise
                self.fault = f"it is broken ({error})"
        if self.fault:
            self.remove()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=0.0, isolation_level=None)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _found_fault(self, connection: sqlite3.Connection) -> str:
        """Why it cannot be used; empty where it can. Every byte is looked at: disks lose some."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _FORMAT or connection.execute("SELECT key FROM work").fetchall() != [(self._key,)]:
            return "it is of other settings or of another version"
        pieces = connection.execute("SELECT CAST(identity || head AS BLOB), checksum FROM piece")
        parts = connection.execute("SELECT name, head, data, checksum FROM part")
        if any(zlib.crc32(data) != checksum for data, checksum in pieces) or any(
            _checksum(Part(*values)) != checksum for *values, checksum in parts
        ):
            return "it is broken (a checksum is wrong)"
        return ""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            hint = hint_of(error, "The same command runs already, with this state.directory.")
            raise StateError(_WHAT, where=str(self._path), why=str(error), hint=hint) from error
        except OSError as error:
            raise StateError(_WHAT, where=str(self._path), why=str(error.strerror)) from error


def _checksum(part: Part) -> int:
    return zlib.crc32(part.data, zlib.crc32(part.head, zlib.crc32(part.name)))
