"""The file that a database was opened from, watched beside SQLite."""

import os
from pathlib import Path

__all__ = ["DatabaseFile"]

_MAGIC = b"SQLite format 3\0"


class DatabaseFile:
    """Held open for as long as the connection is, and closed after it.

    A process that closes any descriptor of a file gives up all its locks of it, SQLite's too: other processes would
    then take the database for one that nobody uses, and its log away (POSIX; SQLite, How To Corrupt, 2.2).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = -1

    @property
    def fault(self) -> str:
        """Why what is written would be lost; empty where it would not."""
        try:
            there, ours = self._path.stat(), os.fstat(self._descriptor)
            if not os.path.samestat(there, ours):
                return "its file was taken away"  # SQLite goes on writing one that was deleted
            # SQLite has the beginning in memory, and does not look again.
            return "" if os.pread(self._descriptor, len(_MAGIC), 0) == _MAGIC else "it was overwritten"
        except OSError as error:
            return f"its file cannot be read: {error.strerror}" if error.filename is None else "its file was taken away"

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
