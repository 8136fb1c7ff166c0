"""A directory of mapped files. What lies in it is untrusted: it may be a link, a FIFO or gone a moment later."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from nccl_exporter import layout
from nccl_exporter.errors import SourceError

# Entries looked at in one listing: a directory that somebody filled must not hold up the scrape.
_ENTRIES: Final = 16_384
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def default_directories() -> tuple[Path, ...]:
    """Where the plugin writes unless it is told otherwise: $NCCL_SENTINEL_DIR, or else one of two fixed places."""
    told = os.environ.get("NCCL_SENTINEL_DIR", "")
    # The plugin takes the first of the two that exists when its job starts, so both are watched.
    return (Path(told),) if told else (Path("/run/nccl-sentinel"), Path("/dev/shm/nccl-sentinel"))  # noqa: S108


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of the directory. Raises OSError when it is missing or may not be read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def file_names(directory: int) -> list[str]:
    """Names of the mapped files in the directory, in order."""
    with os.scandir(directory) as entries:
        return sorted(entry.name for entry in islice(entries, _ENTRIES) if entry.name.endswith(layout.FILE_SUFFIX))


def open_file(directory: int, name: str) -> tuple[int, os.stat_result]:
    """Open a mapped file for reading.

    Raises SourceError when it is not a regular file or may not be read, FileNotFoundError when it is gone.
    """
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=directory)
    except FileNotFoundError:
        raise
    except PermissionError as error:
        raise SourceError("permission", f"{error.strerror}: the exporter must be able to read it") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise SourceError("type", "a link or a socket, not a regular file") from error
        raise SourceError("io", str(error.strerror)) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise SourceError("type", "not a regular file")
    return descriptor, status


def remove(directory: int, name: str, status: os.stat_result) -> bool:
    """Unlink the file if it is still the one that `status` describes; whether it is gone."""
    try:
        now = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if (now.st_dev, now.st_ino) != (status.st_dev, status.st_ino) or not stat.S_ISREG(now.st_mode):
            return False
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
