"""The file over the life of a process: made, locked, found, removed, and what happens where it cannot be made."""

import fcntl
import os
import socket
import struct
from pathlib import Path

import pytest
from plugin.layout import FILE_BYTES

from plugin import layout

OPERATIONS = 1 << 1 | 1 << 2 | 1 << 12
WANTED = OPERATIONS | 1 << 3 | 1 << 4 | 1 << 6  # and what times them


def only_file(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path


def lock_owner(path: Path) -> int | None:
    """The process that holds a lock on the file, as any reader may ask."""
    question = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with path.open("rb") as file:
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, question))
    return None if kind == fcntl.F_UNLCK else pid


def warnings(log: list[str]) -> list[str]:
    return [line for line in log if line.startswith("2 ")]


@pytest.mark.parametrize("version", range(1, 8))
def test_header_says_who_the_process_is(start_job, directory, version):
    environment = {"RANK": "5", "SLURM_PROCID": "6", "SLURM_JOB_ID": "70123"}
    job = start_job(version=version, environment=environment)
    assert job.tell("load") == "Sentinel"
    assert job.tell("init", 7) == [0, WANTED if version >= 4 else OPERATIONS]
    path = only_file(directory)
    data = path.read_bytes()
    assert len(data) == FILE_BYTES
    assert data[:8] == b"NCCLSNTL"
    fields = ("version", "header_bytes", "file_bytes", "state", "pid", "interface_version")
    told = {field: layout.number(data, 0, f"Header.{field}") for field in fields}
    assert told == {
        "version": 2,
        "header_bytes": 512,
        "file_bytes": FILE_BYTES,
        "state": layout.LAYOUT["FileState::kLive"],
        "pid": job.pid,
        "interface_version": version,
    }
    assert path.name == f"{job.pid}-{layout.number(data, 0, 'Header.start_monotonic_ns'):x}.nccl-sentinel"
    assert layout.number(data, 0, "Header.global_rank", "i") == 5
    # The first three versions hand over no logger, which is how NCCL's library is found.
    assert layout.number(data, 0, "Header.nccl_version") == (22809 if version >= 4 else 0)
    assert layout.text(data, 0, "Header.hostname") == socket.gethostname()
    assert layout.text(data, 0, "Header.job_id") == "70123"
    assert path.stat().st_mode & 0o777 == 0o644
    assert not warnings(job.end())


@pytest.mark.parametrize(
    ("environment", "sample", "budget"),
    [
        ({}, (4, 64), 2_000),
        ({"NCCL_SENTINEL_SAMPLE": "all", "NCCL_SENTINEL_BUDGET": "off"}, (1, 1), 0),
        ({"NCCL_SENTINEL_SAMPLE": "off", "NCCL_SENTINEL_BUDGET": "1%"}, (0, 1), 10_000),
    ],
)
def test_header_says_how_it_samples(start_job, directory, environment, sample, budget):
    job = start_job(environment=environment)
    job.tell("load")
    assert job.tell("init", 7) == [0, WANTED if sample[0] else OPERATIONS]
    data = only_file(directory).read_bytes()
    assert tuple(layout.number(data, 0, f"Header.sample_{part}") for part in ("burst", "period")) == sample
    assert layout.number(data, 0, "Header.budget_ppm") == budget
    assert layout.number(data, 0, "Header.events") == WANTED


@pytest.mark.parametrize(("with_cuda", "uuid"), [(True, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"), (False, "")])
def test_a_communicator_says_which_gpu_it_is_on(start_job, directory, with_cuda, uuid):
    """Device 1 of two, by CUDA's word or else by the local rank."""
    job = start_job(environment={"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "4,6"})
    job.tell("load", with_cuda)
    job.tell("init", 7)
    data = only_file(directory).read_bytes()
    (communicator,) = layout.communicators(data)
    assert layout.number(data, communicator, "Communicator.gpu", "i") == 6
    assert layout.text(data, communicator, "Communicator.gpu_uuid") == uuid
    assert layout.number(data, 0, "Header.global_rank", "i") == -1


def test_file_lives_as_long_as_the_process(start_job, directory):
    job = start_job()
    job.tell("load")
    job.tell("init", 7)
    path = only_file(directory)
    assert lock_owner(path) == job.pid
    job.tell("run", 7, 10)
    job.tell("finalize", 7)
    job.tell("unload")  # as NCCL does with its last communicator
    assert only_file(directory) == path
    assert lock_owner(path) == job.pid
    job.tell("load")
    job.tell("init", 8)
    assert only_file(directory) == path
    log = job.end()
    assert not list(directory.iterdir())
    assert not warnings(log)


def test_next_process_removes_what_a_killed_one_left(start_job, directory):
    killed, alive = start_job(), start_job()
    for job in (alive, killed):
        job.tell("load")
        job.tell("init", 7)
        job.tell("run", 7, 3)
    killed.kill()
    left = {path.name: path for path in directory.iterdir()}
    assert len(left) == 2
    owners = {lock_owner(path) for path in left.values()}
    assert owners == {alive.pid, None}

    after = start_job()
    after.tell("load")
    after.tell("init", 7)
    assert {int(path.name.partition("-")[0]) for path in directory.iterdir()} == {alive.pid, after.pid}
    after.end()
    alive.end()
    assert not list(directory.iterdir())


def expect_unobserved(job, *words: str) -> None:
    """The job goes on without the plugin, which has said why exactly once."""
    job.tell("load")
    for identity in (7, 8):
        assert job.tell("init", identity) == [0, 0]
        job.tell("run", identity, 3)
        assert job.tell("finalize", identity) == 0
    (line,) = job.end()
    assert line.startswith("2 4000 nccl-sentinel: ")
    assert "NCCL_SENTINEL_DIR" in line
    for word in words:
        assert word in line


def test_missing_directory(start_job, directory):
    missing = str(directory / "missing")
    expect_unobserved(start_job(environment={"NCCL_SENTINEL_DIR": missing}), missing, "No such file or directory")
    assert not list(directory.iterdir())


def test_directory_that_is_a_file(start_job, directory):
    (directory / "file").write_text("")
    job = start_job(environment={"NCCL_SENTINEL_DIR": str(directory / "file")})
    expect_unobserved(job, "Not a directory")


def test_directory_where_nobody_may_write(start_job):
    # Not even root makes files there.
    expect_unobserved(start_job(environment={"NCCL_SENTINEL_DIR": "/proc/self/fd"}), "/proc/self/fd", "cannot create")


def test_no_room(start_job, directory):
    job = start_job()
    job.tell("limit_file_size", FILE_BYTES - 1)  # past it the kernel sends SIGXFSZ, which kills
    expect_unobserved(job, "cannot allocate", "File too large")
    assert not list(directory.iterdir())


def test_wrong_values_are_said_once_and_defaults_used(start_job, directory):
    job = start_job(environment={"RANK": "first", "SLURM_PROCID": "2"})
    job.tell("load")
    assert job.tell("init", 7) == [0, WANTED]
    assert job.tell("init", 8) == [0, WANTED]
    assert layout.number(only_file(directory).read_bytes(), 0, "Header.global_rank", "i") == 2
    (line,) = warnings(job.end())
    assert "RANK=first" in line
