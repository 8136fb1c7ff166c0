from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentinel.trace import StepRange, Trace, read_trace
from sentinel.trace.event import NONE, PERMANENT, EventKind, EventType
from sentinel.trace.segment import Segment, cut_capture, cut_segment, number_operations

Row = dict[str, Any]
Write = Callable[[list[list[Row]]], Path]
MS = 1_000_000


def cut(trace: Trace, rank: int, steps: StepRange) -> tuple[Segment, int]:
    """A segment and its length, ns."""
    start, end = (int(trace.boundaries_ns[step]) for step in (steps.first, steps.last))
    chosen = trace.ranks[rank]
    return cut_segment(chosen, number_operations(chosen), steps, start, end - start), end - start


def test_handles_are_numbered_anew(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    segment, length = cut(read_trace(write_trace([small_job(0), small_job(1)])), 1, StepRange(1, 3))
    starts = segment.events[segment.events["kind"] == EventKind.start]
    assert sorted(starts["slot"].tolist()) == list(range(segment.slots)) == list(range(4 * 7))
    assert length == 20 * MS
    assert segment.per_thread.tolist() == [4 * 8, 4 * 11]
    colls = starts[starts["type"] == EventType.Coll]
    types = dict(zip(starts["slot"].tolist(), starts["type"].tolist(), strict=True))
    assert {types[slot] for slot in colls["parent"].tolist()} == {EventType.CollApi}
    assert {types[slot] for slot in colls["group"].tolist()} == {EventType.Group}
    assert colls["operation"].tolist() == colls["slot"].tolist()
    steps = starts[starts["type"] == EventType.ProxyStep]
    assert {types[slot] for slot in steps["operation"].tolist()} == {EventType.Coll}
    assert set(steps["need"].tolist()) == {EventType.Coll.bit | EventType.ProxyOp.bit | EventType.ProxyStep.bit}
    assert set(starts[starts["type"] == EventType.CollApi]["need"].tolist()) == {0}


def test_operations_are_counted_per_communicator_and_func(
    write_trace: Write, small_job: Callable[..., list[Row]]
) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    segment, _ = cut(trace, 0, StepRange(1, 4))
    colls = segment.events[(segment.events["type"] == EventType.Coll) & (segment.events["kind"] == EventKind.start)]
    assert segment.per_counter.tolist() == [3, 3]
    assert segment.first_sequence.tolist() == [1, 1]
    assert colls["extra"].tolist() == [0, 1] * 3
    assert colls["order"].tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("name", "first", "last"), [("stall2", 1, 2), ("stall2", 3, 40), ("pipe_late1", 20, 21)])
def test_iterations_can_follow_each_other(traces: Path, name: str, first: int, last: int) -> None:
    """Order of time stays order of cause, also when the head of the next iteration lies before the tail of this one."""
    trace = read_trace(traces / name)
    for rank in range(8):
        segment, length = cut(trace, rank, StepRange(first, last))
        events = segment.events
        begun = np.zeros(segment.slots, np.int64)
        is_start = events["kind"] == EventKind.start
        begun[events["slot"][is_start]] = events["time_ns"][is_start]
        assert (events["time_ns"] >= begun[events["slot"]]).all()
        child = is_start & (events["parent"] != NONE)
        assert (events["time_ns"][child] >= begun[events["parent"][child]]).all()
        ends = np.cumsum(segment.per_thread)
        for begin, end in zip(ends - segment.per_thread, ends, strict=True):
            assert (np.diff(events["time_ns"][begin:end]) >= 0).all()
        # The launching thread finishes before it begins again.
        launching = events[np.isin(events["type"], [EventType.GroupApi, EventType.Coll, EventType.P2p])]["time_ns"]
        assert launching.min() + length >= launching.max()


def test_waits_only_where_iterations_overlap(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    segment, _ = cut(trace, 0, StepRange(0, 2))
    rows = [row["t"] for row in small_job(0) if row.get("type") and row["t"] < 120 * MS]
    assert sorted(segment.events["time_ns"].tolist()) == [t - 100 * MS for t in rows]


def test_the_capture_of_a_graph_is_kept_apart(traces: Path) -> None:
    trace = read_trace(traces / "graph_late1", ops_per_step=3)
    rank = trace.ranks[1]
    capture = cut_capture(rank, number_operations(rank))
    starts = capture.events[capture.events["kind"] == EventKind.start]
    names = [EventType(kind).name for kind in starts["type"].tolist()]
    assert names == ["GroupApi", "CollApi", "KernelLaunch"] * 3
    assert set(capture.events["time_ns"].tolist()) == {0}
    segment, _ = cut(trace, 1, StepRange(50, 52))
    colls = segment.events[(segment.events["type"] == EventType.Coll) & (segment.events["kind"] == EventKind.start)]
    parents = [int(parent) & ~PERMANENT for parent in colls["parent"] if parent & PERMANENT and parent != NONE]
    assert parents == [1, 4, 7, 1, 4, 7]
