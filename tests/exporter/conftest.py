"""Mapped files made by hand, and another process that holds their locks as a training process would."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter import layout
from nccl_exporter.layout import FileState, SlotState
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
SECOND = 1_000_000_000

_LOCK_HOLDER = """
import fcntl, sys
held = {}
for line in sys.stdin:
    command, path = line.rstrip("\\n").split(" ", 1)
    if command == "lock":
        held[path] = open(path, "r+b")
        fcntl.lockf(held[path], fcntl.LOCK_EX)
    else:
        held.pop(path).close()
    print("done", flush=True)
"""


class LockHolder:
    """A process that locks files when told; when it is killed the kernel lets go of them."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", _LOCK_HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def lock(self, path: Path) -> None:
        self._tell("lock", path)

    def unlock(self, path: Path) -> None:
        self._tell("unlock", path)

    def _tell(self, command: str, path: Path) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command} {path}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


class MappedFile:
    """A file of the layout with setters; every change is in the file at once."""

    def __init__(self, path: Path, pid: int = 100, start_monotonic_ns: int = 5 * SECOND) -> None:
        self.path = path
        path.write_bytes(bytes(layout.FILE_BYTES))
        self.data: Any = np.memmap(path, layout.FILE, "r+", shape=(1,))[0:1]
        header = self.header
        header["magic"], header["version"] = layout.MAGIC, layout.VERSION
        header["header_bytes"], header["file_bytes"] = layout.HEADER.itemsize, layout.FILE_BYTES
        header["state"], header["pid"] = FileState.LIVE, pid
        header["start_monotonic_ns"] = start_monotonic_ns
        header["global_rank"], header["nccl_version"] = -1, 22809
        self.set_text(header, "hostname", "node-a")
        self._names: dict[str, int] = {}

    @property
    def header(self) -> Any:
        return self.data["header"][0]

    @staticmethod
    def set_text(record: Any, field: str, text: str | bytes) -> None:
        size = record.dtype[field].itemsize
        raw = text.encode() if isinstance(text, str) else text
        record[field] = np.void(raw[:size].ljust(size, b"\0"))

    def name(self, text: str) -> int:
        if text not in self._names:
            index = self._names[text] = len(self._names)
            row = self.data["names"][0][index]
            row["state"] = SlotState.OPEN
            self.set_text(row, "text", text)
        return self._names[text]

    def communicator(self, slot: int = 0, *, comm: int = 0xABC, rank: int = 0, nranks: int = 2, name: str = "") -> Any:
        row = self.data["communicators"][0][slot]
        row["state"], row["generation"], row["id"] = SlotState.OPEN, row["generation"] + 1, comm
        row["rank"], row["nranks"], row["nnodes"], row["gpu"] = rank, nranks, 1, -1
        self.set_text(row, "name", name)
        return row

    def operation(
        self,
        communicator: Any,
        index: int = 0,
        name: str = "AllReduce",
        *,
        kind: int = 0,
        launched: int = 0,
        **counts: int,
    ) -> Any:
        """`counts` by outcome; those that can only have been left out are so, the others happened after the launch."""
        row = communicator["operations"][index]
        row["state"], row["name"], row["kind"], row["launched"] = SlotState.OPEN, self.name(name), kind, launched
        for outcome, count in counts.items():
            if outcome in layout.SETTLED:
                self.count(row, **{outcome: count})
            else:
                row["left_out"][layout.OUTCOMES.index(outcome)] = count
        return row

    def cell(
        self,
        communicator: Any,
        index: int = 0,
        op: str = "AllReduce",
        power: int = 20,
        *,
        algo: str = "RING",
        proto: str = "LL128",
        **counts: Any,
    ) -> Any:
        row = communicator["cells"][index]
        row["size_log2"], row["operation"] = power, self.name(op)
        row["algorithm"], row["protocol"] = self.name(algo), self.name(proto)
        row["state"] = SlotState.OPEN
        if "operations" in counts and "buckets" not in counts:
            counts["buckets"] = [counts["operations"], *[0] * (layout.BUCKETS - 1)]
        return self.count(row, **counts)

    def peer(
        self, communicator: Any, index: int = 0, op: str = "Send", peer: int = 1, power: int = 20, **counts: Any
    ) -> Any:
        row = communicator["peers"][index]
        row["operation"], row["peer"], row["size_log2"] = self.name(op), peer, power
        row["state"] = SlotState.OPEN
        return self.count(row, **counts)

    def link(self, communicator: Any, index: int = 0, peer: int = 1, direction: int = 0, **counts: Any) -> Any:
        row = communicator["links"][index]
        row["peer"], row["direction"], row["state"] = peer, direction, SlotState.OPEN
        return self.count(row, **counts)

    @staticmethod
    def count(row: Any, **counts: Any) -> Any:
        """Commit new counts of a row; what is not given stays as it was."""
        field = "settled" if "settled" in row.dtype.names else "counts"
        next_commit = (int(row["commit"]) >> layout.COMMIT_SHIFT) + 1
        row[field][next_commit % 2] = row[field][(next_commit + 1) % 2]
        for name, value in counts.items():
            if field == "settled":
                row[field][next_commit % 2]["outcomes"][layout.SETTLED.index(name)] = value
            else:
                row[field][next_commit % 2][name] = value
        row["commit"] = next_commit << layout.COMMIT_SHIFT
        return row

    @staticmethod
    def fly(
        communicator: Any, place: int, launched_ns: int, *, row: int = 0, number: int = 0, generation: int = 0
    ) -> int:
        """Put an operation in flight; returns how a commit names it."""
        communicator["in_flight"][place] = (
            launched_ns >> layout.FLIGHT_TIME_UNIT << layout.FLIGHT_TIME_SHIFT
            | row << layout.FLIGHT_OPERATION_SHIFT
            | (number & layout.FLIGHT_NUMBER_MASK) << layout.FLIGHT_NUMBER_SHIFT
            | (generation & layout.FLIGHT_GENERATION_MASK)
        )
        return (
            layout.COMMIT_NAMES
            | place << layout.COMMIT_PLACE_SHIFT
            | (generation & layout.FLIGHT_GENERATION_MASK) << layout.COMMIT_GENERATION_SHIFT
        )


class Clock:
    """CLOCK_MONOTONIC as the test wants it, in ns."""

    def __init__(self) -> None:
        self.ns = 1000 * SECOND

    def __call__(self) -> int:
        return self.ns


Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Series:
    """The page by (name, sorted labels); a series that is given twice fails."""
    found: Series = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"{key} is given twice"
            found[key] = sample.value
    return found


@pytest.fixture
def holder() -> Iterator[LockHolder]:
    process = LockHolder()
    yield process
    process.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source_dir(tmp_path: Path) -> Path:
    path = tmp_path / "sources"
    path.mkdir()
    return path


@pytest.fixture
def make_file(source_dir: Path, holder: LockHolder) -> Callable[..., MappedFile]:
    """Makes the file of a process, without communicators; the process lives unless `live` is false."""

    def make(stem: str = "100", *, live: bool = True, **header: int) -> MappedFile:
        made = MappedFile(source_dir / f"{stem}{layout.FILE_SUFFIX}", **header)
        if live:
            holder.lock(made.path)
        return made

    return make


@pytest.fixture
def mapped_file(make_file: Callable[..., MappedFile]) -> MappedFile:
    """A file that no process holds."""
    return make_file(live=False)


@pytest.fixture
def descriptor(mapped_file: MappedFile) -> Iterator[int]:
    number = os.open(mapped_file.path, os.O_RDONLY)
    yield number
    os.close(number)


@pytest.fixture
def series() -> Callable[[str], Series]:
    return parsed


@pytest.fixture
def poll() -> Callable[..., Any]:
    return asked_until_true


@pytest.fixture(scope="session")
def promtool() -> str:
    found = shutil.which("promtool", path=os.pathsep.join([str(ROOT / ".tools/bin"), os.environ["PATH"]]))
    assert found, "promtool is needed: put it on PATH or in .tools/bin"
    return found


def asked_until_true(condition: Any, seconds: float = 10.0) -> Any:
    """Ask until the answer is true."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "no answer in time"
    return answer
