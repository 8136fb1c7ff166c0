from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentinel.errors import TraceError
from sentinel.trace import StepRange, Trace, read_trace
from sentinel.trace.event import EventKind, EventType

Row = dict[str, Any]
Write = Callable[[list[list[Row]]], Path]
MS = 1_000_000


def steps_of_starts(trace: Trace, rank: int, kind: EventType) -> list[int]:
    events = trace.ranks[rank].recording.events
    chosen = (events["type"] == kind) & (events["kind"] == EventKind.start)
    return list(trace.ranks[rank].step[chosen].tolist())


@pytest.mark.parametrize(
    ("name", "steps", "nodes"),
    [("stall2", 60, 4), ("pipe_late1", 160, 4), ("mixchange", 100, 4)],
)
def test_finds_the_steps_of_recorded_traces(traces: Path, name: str, steps: int, nodes: int) -> None:
    trace = read_trace(traces / name)
    assert (trace.steps, trace.nnodes, len(trace.ranks)) == (steps, nodes, 8)
    for rank in trace.ranks:
        # Every operation but the last, a barrier after the loop, is in a step, and so is all that belongs to one.
        assert np.count_nonzero(rank.step[rank.operations.starts] < 0) == 1
        per_step = np.bincount(rank.step[rank.operations.starts[:-1]])
        assert per_step.tolist() == [per_step[0]] * steps
        assert np.unique(rank.step[rank.recording.events["type"] == EventType.KernelCh]).tolist() == [-1, *range(steps)]


def test_finds_the_stall_in_its_step(traces: Path) -> None:
    lengths = np.diff(read_trace(traces / "stall2").boundaries_ns) * 1e-9
    assert 25 < lengths[29:31].sum() < 25.2
    assert lengths[1:29].max() < 0.1


def test_everything_belongs_to_the_step_of_its_operation(
    write_trace: Write, small_job: Callable[..., list[Row]]
) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    for kind in (EventType.GroupApi, EventType.CollApi, EventType.Group, EventType.Coll):
        assert steps_of_starts(trace, 0, kind) == [0, 0, 1, 1, 2, 2, 3, 3, -1]
    for kind in (EventType.KernelCh, EventType.ProxyOp, EventType.ProxyStep):
        assert steps_of_starts(trace, 1, kind) == [0, 0, 1, 1, 2, 2, 3, 3, -1]


def test_a_step_begins_with_the_first_callback_on_any_rank(
    write_trace: Write, small_job: Callable[..., list[Row]]
) -> None:
    trace = read_trace(write_trace([small_job(0, delay_ns=2 * MS), small_job(1)]))
    assert trace.boundaries_ns[:4].tolist() == [100 * MS, 110 * MS, 120 * MS, 130 * MS]
    last_callback = 130 * MS + 2 * MS + 10 * MS // 3 + 18
    assert trace.boundaries_ns[4] == last_callback
    assert trace.seconds(StepRange(1, 3)) == pytest.approx(0.02)
    assert trace.step_seconds == pytest.approx(0.01)


def test_refuses_ranks_with_different_numbers_of_steps(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    with pytest.raises(TraceError, match=r"rank01.*rank 1 has 5 steps, rank 0 has 4"):
        read_trace(write_trace([small_job(0), small_job(1, steps=5)]))


def test_refuses_a_trace_without_a_pattern(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    rows = small_job(0, steps=2)
    for number, row in enumerate(row for row in rows if row.get("type") == "Coll" and row["k"] == "start"):
        row["func"] = f"Func{number}"
    with pytest.raises(TraceError, match=r"rank00.*no pattern of operations repeats \(5 operations\)"):
        read_trace(write_trace([rows]))


@pytest.mark.parametrize("count", [0, -1, 10])
def test_refuses_impossible_steps(write_trace: Write, small_job: Callable[..., list[Row]], count: int) -> None:
    with pytest.raises(TraceError, match="from 1 to 9"):
        read_trace(write_trace([small_job(0), small_job(1)]), ops_per_step=count)


def test_given_steps_begin_after_the_pauses(traces: Path) -> None:
    trace = read_trace(traces / "graph_late1", ops_per_step=3)
    assert trace.steps == 201
    for rank in trace.ranks:
        # Two operations of warm-up are left over; then each step is one replay of the graph, from one thread.
        steps = rank.step[rank.operations.starts]
        assert steps[:2].tolist() == [-1, -1]
        assert steps[5:].tolist() == np.repeat(np.arange(1, 201), 3).tolist()
        assert len(np.unique(rank.recording.thread[rank.operations.starts[5:]])) == 1
    late = np.diff(trace.boundaries_ns)[101:-1]
    assert np.median(late) > 1 * MS
