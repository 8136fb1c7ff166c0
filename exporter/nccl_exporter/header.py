"""The header of a mapped file, checked."""

from typing import Any, Final

import numpy as np

from nccl_exporter import layout, text
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import FileState
from nccl_exporter.model import Process
from nccl_exporter.record import Buffer

_NO_MAGIC: Final = b""
_HIGHEST_LEVEL: Final = 1000


def read(descriptor: int, size: int) -> tuple[FileState, Process | None]:
    """What the header of a file of `size` bytes says; no process while the writer is starting.

    Raises SourceError when it is not a mapped file of this layout or says what cannot be true.
    """
    if size == 0:
        return FileState.STARTING, None
    if size != layout.FILE_BYTES:
        raise SourceError("size", f"{size} bytes instead of {layout.FILE_BYTES}")
    header: Any = Buffer(layout.HEADER).fill(descriptor, 0)[0]
    magic = bytes(header["magic"])
    if magic == _NO_MAGIC and header["state"] == FileState.STARTING:
        return FileState.STARTING, None
    if magic != layout.MAGIC:
        raise SourceError("magic", f"begins with {magic!r} instead of {layout.MAGIC!r}")
    if header["version"] != layout.VERSION:
        raise SourceError("version", f"layout {header['version']}; this exporter reads {layout.VERSION}")
    if header["header_bytes"] != layout.HEADER.itemsize or header["file_bytes"] != size:
        raise SourceError("header", "its sizes are not those of the layout")
    if header["state"] not in FileState.__members__.values():
        raise SourceError("header", f"unknown state {header['state']}")
    state = FileState(int(header["state"]))
    return state, None if state is FileState.STARTING else _process(header)


def _process(header: np.void) -> Process:
    pid, global_rank = int(header["pid"]), int(header["global_rank"])
    nccl_version, level = int(header["nccl_version"]), int(header["governor_level"])
    if pid < 1 or global_rank < -1 or not 0 <= nccl_version < 1_000_000 or level > _HIGHEST_LEVEL:
        raise SourceError("header", "pid, global rank, NCCL version or governor's level out of range")
    hostname, job_id = (text.label(header[field].tobytes()) for field in ("hostname", "job_id"))
    if hostname is None or job_id is None:
        raise SourceError("text", "host name or job is not UTF-8 or holds control characters")
    return Process(
        pid=pid,
        start_monotonic_ns=int(header["start_monotonic_ns"]),
        global_rank=global_rank,
        nccl_version=nccl_version,
        governor_level=level,
        hostname=hostname,
        job_id=job_id,
        dropped=tuple(header["dropped"].tolist()),
    )
