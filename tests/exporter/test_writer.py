"""Reading while another process writes as fast as it can."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter.collector import Collector
from nccl_exporter.reader import Reader

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "plugin"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("writer") / "writer"
    includes = [f"-I{PLUGIN}/include", f"-I{PLUGIN}/src"]
    subprocess.run(["g++", "-std=c++17", "-O2", *includes, "-o", program, HERE / "writer.cc"], check=True)
    return program


@pytest.fixture
def written_file(mapped_file: Any) -> Any:
    row = mapped_file.communicator()
    mapped_file.cell(row)
    mapped_file.link(row)
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
    """Without the commits the tests below would fail: this writer does tear a plain copy."""
    start(0)
    cell = written_file.data["communicators"][0][0]["cells"][0:1]["counts"]

    def torn() -> bool:
        copy = np.copy(cell)
        return bool((copy["duration_ns"] != 1000 * copy["operations"]).any())

    poll(torn)


@pytest.mark.parametrize("pauses", [0, 20, 200, 20_000])
def test_counts_and_sums_always_match(
    written_file: Any, descriptor: int, start: Callable[[int], Any], pauses: int
) -> None:
    start(pauses)
    reader = Reader(time.monotonic_ns)
    seen: list[tuple[int, ...]] = []
    still = 0
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        (found,) = reader.communicators(descriptor, written_file.header["start_monotonic_ns"])
        for operations, duration_ns, logs in found.cells.by_key().values():
            assert (duration_ns, logs) == (1000 * operations, 2.0 * operations)
        for operations, size, *states in found.links.by_key().values():
            assert (size, states) == (64 * operations, [operations] * 3 + [1000 * operations] * 3)
        for row in found.operations:
            assert (row.duration_ns, row.bytes) == (1000 * row.operations, 64 * row.operations)
            accounted = row.operations + row.skipped + sum(row.refused)
            assert row.started >= accounted
            if found.is_still:
                assert row.started == accounted + row.in_flight
                assert row.in_flight <= 4
                still += 1
            seen.append((row.started, row.operations, row.skipped, *row.refused))
        assert found.inflight_ns < 10**9
    for column in zip(*seen, strict=True):
        assert list(column) == sorted(column)
    assert reader.rejected == {}
    if pauses == 20_000:  # some 500 us between operations: nearly every look is consistent
        assert still > 0.9 * len(seen)
        assert len(set(seen)) > 20
        assert reader.torn == 0


@pytest.mark.parametrize("victim", range(20))
def test_killed_writer_leaves_whole_counts(
    written_file: Any, descriptor: int, start: Callable[[int], Any], victim: int
) -> None:
    """Wherever it is killed, every operation is counted once: in its row or in flight."""
    process = start(victim % 3)
    process.kill()
    process.wait()
    reader = Reader(time.monotonic_ns)
    (found,) = reader.communicators(descriptor)
    (row,) = found.operations
    assert found.is_still
    assert row.started == row.operations + row.skipped + sum(row.refused) + row.in_flight
    assert found.cells.by_key() == {
        ("AllReduce", "1048576", "RING", "LL128"): (row.operations, 1000 * row.operations, 2.0 * row.operations)
    }
    assert reader.torn == 0
    assert reader.rejected == {}


def test_series_end_with_the_process(
    written_file: Any, source_dir: Path, start: Callable[[int], Any], series: Callable[[str], Any]
) -> None:
    process = start(200)
    collector = Collector([source_dir])
    assert "nccl_collective_operations_total{" in collector.collect()
    process.kill()
    process.wait()
    text = collector.collect()
    assert "nccl_collective_operations_total" not in text
    assert series(text)["nccl_exporter_sources", (("state", "dead"),)] == 1
