"""One daemon per state directory."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from sentinel.errors import StateError

__all__ = ["DirectoryLock"]


class DirectoryLock:
    """An advisory lock on `DIRECTORY/lock`, which the kernel lets go of when the process ends, however it ends.

    Two daemons on one directory would both send alerts from it, each undoing the other's incidents.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / "lock"
        try:
            self._file = _open(path)
        except OSError as error:
            raise StateError(
                "cannot open the state directory's lock", where=str(path), why=str(error.strerror)
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            os.close(self._file)
            if error.errno not in {errno.EAGAIN, errno.EACCES}:
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
        os.close(self._file)


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
