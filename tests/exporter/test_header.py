import os
from collections.abc import Callable
from typing import Any

import pytest
from nccl_exporter import header, layout
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import FileState


def test_good_header(mapped_file: Any, descriptor: int) -> None:
    mapped_file.header["dropped"][:] = [1, 2, 3, 4, 5, 2**64 - 1]
    mapped_file.header["governor_level"] = 3
    mapped_file.set_text(mapped_file.header, "job_id", "job-größe")
    state, process = header.read(descriptor, layout.FILE_BYTES)
    assert state is FileState.LIVE
    assert process is not None
    assert (process.pid, process.governor_level, process.global_rank, process.hostname) == (100, 3, -1, "node-a")
    assert process.job_id == "job-größe"
    assert process.dropped == (1, 2, 3, 4, 5, 2**64 - 1)


def test_writer_that_starts_is_no_process_yet(mapped_file: Any, descriptor: int) -> None:
    assert header.read(descriptor, 0) == (FileState.STARTING, None)
    mapped_file.header["state"] = FileState.STARTING
    assert header.read(descriptor, layout.FILE_BYTES) == (FileState.STARTING, None)
    mapped_file.header["magic"] = b""
    assert header.read(descriptor, layout.FILE_BYTES) == (FileState.STARTING, None)


def _set(field: str, value: Any) -> Callable[[Any], None]:
    return lambda file: file.header.__setitem__(field, value)


def _text(field: str, value: bytes) -> Callable[[Any], None]:
    return lambda file: file.set_text(file.header, field, value)


@pytest.mark.parametrize(
    ("reason", "spoil"),
    [
        ("magic", _set("magic", b"ELFELFEL")),
        ("magic", _set("magic", b"")),
        ("version", _set("version", 1)),
        ("header", _set("header_bytes", 511)),
        ("header", _set("file_bytes", 2**63)),
        ("header", _set("state", 3)),
        ("header", _set("pid", 0)),
        ("header", _set("pid", -5)),
        ("header", _set("governor_level", 1001)),
        ("header", _set("global_rank", -2)),
        ("header", _set("nccl_version", -1)),
        ("text", _text("hostname", b"\xfe\xfe")),
        ("text", _text("job_id", b"a\nb")),
    ],
)
def test_bad_header(mapped_file: Any, descriptor: int, reason: str, spoil: Callable[[Any], None]) -> None:
    spoil(mapped_file)
    with pytest.raises(SourceError) as caught:
        header.read(descriptor, layout.FILE_BYTES)
    assert caught.value.reason == reason


@pytest.mark.parametrize("size", [1, layout.FILE_BYTES - 1, layout.FILE_BYTES + 1])
def test_wrong_size(descriptor: int, size: int) -> None:
    with pytest.raises(SourceError, match=f"{size} bytes instead of {layout.FILE_BYTES}"):
        header.read(descriptor, size)


def test_file_that_is_cut_after_its_size_was_seen(mapped_file: Any, descriptor: int) -> None:
    os.truncate(mapped_file.path, 100)
    with pytest.raises(SourceError, match="cut short"):
        header.read(descriptor, layout.FILE_BYTES)
