"""The header and the name table of a mapped file, checked."""

from typing import Any, Final

import numpy as np

from nccl_exporter import layout, text
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import FileState
from nccl_exporter.model import Process
from nccl_exporter.record import Buffer, Records

_NO_MAGIC: Final = b""
_HIGHEST_GPU: Final = 4095


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
    pid, global_rank, gpu = int(header["pid"]), int(header["global_rank"]), int(header["gpu"])
    nccl_version = int(header["nccl_version"])
    if pid < 1 or global_rank < -1 or not -1 <= gpu <= _HIGHEST_GPU or not 0 <= nccl_version < 1_000_000:
        raise SourceError("header", "pid, global rank, GPU or NCCL version out of range")
    texts = [text.label(header[field].tobytes()) for field in ("hostname", "job_id", "gpu_uuid")]
    hostname, job_id, gpu_uuid = texts
    if hostname is None or job_id is None or gpu_uuid is None:
        raise SourceError("text", "host name, job or GPU is not UTF-8 or holds control characters")
    return Process(
        pid=pid,
        start_monotonic_ns=int(header["start_monotonic_ns"]),
        global_rank=global_rank,
        gpu=gpu,
        nccl_version=nccl_version,
        hostname=hostname,
        job_id=job_id,
        gpu_uuid=gpu_uuid,
        dropped=tuple(header["dropped"].tolist()),
    )


def read_names(descriptor: int) -> tuple[str | None, ...]:
    """The name table, None where a name is not there or cannot be trusted."""
    table: Records = Buffer(layout.NAME, layout.NAMES).fill(descriptor, layout.NAMES_OFFSET)
    return tuple(
        text.name(field) if state == layout.OPEN else None
        for state, field in zip(table["state"].tolist(), table["text"].tolist(), strict=True)
    )
