"""One daemon per state directory."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from sentinel.errors import StateError

__all__ = ["DirectoryLock"]

_TAKEN: Final = {errno.EAGAIN, errno.EACCES}


class DirectoryLock:
    """An advisory lock on `DIRECTORY/lock`, which the kernel lets go of when the process ends, however it ends.

    Two daemons on one directory would both send alerts from it, each undoing the other's incidents. The directory is
    locked as well, where its file system can do that: the file may be deleted, and made anew, while a daemon runs.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / "lock"
        try:
            self._file = _open(path)
        except OSError as error:
            raise StateError(
                "cannot open the state directory's lock", where=str(path), why=str(error.strerror)
            ) from error
        self._directory = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _lock_directory(self._directory)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            self._close()
            if error.errno not in _TAKEN:
                why = f"{error.strerror}: the file system must support locks"
                raise StateError("cannot lock the state directory", where=str(path), why=why) from error
            why = f"another daemon (process {holder}) uses it" if holder else "another daemon uses it"
            raise StateError(
                "the state directory is taken", where=str(directory), why=why, hint="Give each its own state.directory."
            ) from None
        # For whoever comes second; on a disk that is full nobody is named.
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        os.close(self._file)
        os.close(self._directory)


def _lock_directory(directory: int) -> None:
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            raise
        # NFS locks no directories: there the file alone has to do.


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as error:
        # One that is there can be locked where nothing can be written any more.
        if error.errno not in {errno.EROFS, errno.EACCES, errno.ENOSPC}:
            raise
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            raise error from None
