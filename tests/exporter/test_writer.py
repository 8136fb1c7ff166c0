"""Reading while another process writes as fast as it can."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter import layout
from nccl_exporter.collector import Collector
from nccl_exporter.reader import Reader

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "plugin" / "include"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("writer") / "writer"
    subprocess.run(["g++", "-std=c++17", "-O2", f"-I{INCLUDE}", "-o", program, HERE / "writer.cc"], check=True)
    return program


@pytest.fixture
def written_file(mapped_file: Any) -> Any:
    row = mapped_file.communicator()
    mapped_file.cell(row)
    mapped_file.operation(row)
    return mapped_file


@pytest.fixture
def start(writer: Path, written_file: Any) -> Iterator[Callable[[int], "subprocess.Popen[str]"]]:
    """Starts a writer that rests so many turns after each row."""
    running: list[subprocess.Popen[str]] = []

    def begin(pauses: int) -> "subprocess.Popen[str]":
        process = subprocess.Popen([writer, written_file.path, str(pauses)], stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield begin
    for process in running:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_plain_copies_are_torn(
    written_file: Any, descriptor: int, start: Callable[[int], Any], poll: Callable[..., Any]
) -> None:
    """Without the sequences the tests below would fail: this writer does tear a plain copy."""
    start(0)
    cell = written_file.data["communicators"][0][0]["cells"][0:1]
    poll(lambda: (copy := np.copy(cell)) is not None and copy["duration_ns"][0] != 1000 * copy["operations"][0])


@pytest.mark.parametrize("pauses", [0, 20, 200])
def test_counts_and_sums_always_match(
    written_file: Any, descriptor: int, start: Callable[[int], Any], pauses: int
) -> None:
    start(pauses)
    reader = Reader(time.monotonic_ns)
    seen: list[int] = []
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        (found,) = reader.communicators(descriptor)
        for cell in found.cells:
            assert (cell.duration_ns, cell.log_microseconds) == (1000 * cell.operations, 2.0 * cell.operations)
            seen.append(cell.operations)
        for row in found.operations:
            assert (row.duration_ns, row.bytes) == (1000 * row.operations, 64 * row.operations)
            assert row.buckets == (row.operations, *[0] * (layout.BUCKETS - 1))
            assert row.started >= row.operations
    assert seen == sorted(seen)
    if pauses == 200:  # some 5 us between rows, as fast as NCCL's smallest operations: nearly every look is whole
        assert len(set(seen)) > 20
        assert reader.torn < len(seen) // 10


def test_series_end_with_the_process(
    written_file: Any, source_dir: Path, start: Callable[[int], Any], series: Callable[[str], Any]
) -> None:
    process = start(200)
    collector = Collector([source_dir])
    assert "nccl_collective_operations_total" in collector.collect()
    process.kill()
    process.wait()
    text = collector.collect()
    assert "nccl_collective_operations_total" not in text
    assert series(text)["nccl_exporter_sources", (("state", "dead"),)] == 1
