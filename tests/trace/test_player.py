"""What the player tells a plugin is what was recorded, again and again."""

import lzma
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from player.run import PlayerRun, Scripts

from sentinel.trace import StepRange
from sentinel.trace.event import EventType

Row = dict[str, Any]
COLL, KERNEL = EventType.Coll.bit, EventType.KernelCh.bit
_STATE_VALUES = {"KernelCh": "ptimer", "ProxyStep": "trans_size", "ProxyCtrl": "appended"}


def recorded_rows(path: Path) -> list[Row]:
    return [orjson.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines()]


def described(row: Row, types: dict[int, str]) -> tuple[Any, ...]:
    """What of a callback must be equal: all but times, threads and handle numbers."""
    kind = row["type"]
    if row["k"] == "stop":
        return ("stop", kind)
    if row["k"] == "state":
        return ("state", kind, row["state"], row.get(_STATE_VALUES.get(kind, ""), 0 if kind == "ProxyCtrl" else -1))
    names = ("rank", "func", "count", "seq", "dtype", "root", "nchannels", "nwarps", "algo", "proto")
    names += ("peer", "channel", "nsteps", "chunk", "is_send", "step", "ptimer")
    parent = types.get(row.get("parent", 0))
    return ("start", kind, parent, *(row.get(name) for name in names))


def played(calls: list[Row], types: dict[int, str]) -> list[tuple[Any, ...]]:
    rows = []
    for call in calls:
        if call["call"] == "start":
            row = {**call, "k": "start", "type": types[call["handle"]]}
            row["parent"] = call["parent"]
            rows.append(described(row, types))
        elif call["call"] == "stop":
            rows.append(("stop", types[call["handle"]]))
        else:
            rows.append(("state", types[call["handle"]], call["state"], call["value"]))
    return rows


@pytest.mark.parametrize(
    ("name", "ops_per_step", "rank"),
    [("late1ms", None, 3), ("pipe_late1", None, 5), ("sweep2", None, 0), ("graph_late1", 3, 1)],
)
def test_one_pass_is_what_was_recorded(
    scripts: Scripts, traces: Path, name: str, ops_per_step: int | None, rank: int
) -> None:
    """Every thread's sequence of callbacks, with all fields, parents and GPU times."""
    trace = scripts.trace(traces / name, ops_per_step)
    run = scripts.play(trace, rank, {"all": StepRange(0, trace.steps)}, pace=4.0)
    run.finish()
    chosen = trace.ranks[rank]
    rows = [row for row in recorded_rows(chosen.recording.path) if row["k"] in ("start", "stop", "state")]
    inside = (chosen.step >= 0) | chosen.operations.captured[chosen.recording.events["slot"]]
    expected = defaultdict(list)
    types = {row["id"]: row["type"] for row in rows if row["k"] == "start"}
    for row, taken in zip(rows, inside, strict=True):
        if taken:
            expected[row["tid"]].append(described(row, types))
    if name == "graph_late1":  # the capture comes first, whatever was between
        _capture_first(expected, rows, inside, chosen, types)
    found = defaultdict(list)
    played_types = {call["handle"]: call["type"] for call in run.calls("start")}
    names = {handle: EventType(kind.bit_length() - 1).name for handle, kind in played_types.items()}
    for call in run.calls("start", "stop", "state"):
        found[call["tid"]].append(call)
    assert sorted(map(len, found.values())) == sorted(map(len, expected.values()))
    by_length = sorted(expected.values(), key=len)
    for calls, thread in zip(sorted(found.values(), key=len), by_length, strict=True):
        assert played(calls, names) == thread


def _capture_first(expected: Any, rows: list[Row], inside: Any, chosen: Any, types: dict[int, str]) -> None:
    captured = chosen.operations.captured[chosen.recording.events["slot"]]
    for tid in expected:
        mine = [
            (row, bool(first))
            for row, taken, first in zip(rows, inside, captured, strict=True)
            if taken and row["tid"] == tid
        ]
        expected[tid] = [described(row, types) for row, first in sorted(mine, key=lambda each: not each[1])]


def test_children_follow_their_own_parent(scripts: Scripts, small: Any) -> None:
    run = scripts.play(small, 0, {"all": StepRange(0, 4)})
    run.finish()
    starts = {call["handle"]: call for call in run.calls("start")}
    order = {call["handle"]: at for at, call in enumerate(run.calls("start"))}
    colls = [call for call in starts.values() if call["type"] == COLL]
    for at, coll in enumerate(colls):
        assert starts[coll["parent"]]["type"] == EventType.CollApi.bit
        assert starts[coll["group"]]["type"] == EventType.Group.bit
        kernels = [call for call in starts.values() if call["type"] == KERNEL and call["parent"] == coll["handle"]]
        assert len(kernels) == 1, at
        assert order[kernels[0]["handle"]] > order[coll["handle"]]
    assert all(order[call["parent"]] < order[call["handle"]] for call in starts.values() if call["parent"])


def test_opens_and_closes_as_the_job_did(scripts: Scripts, traces: Path) -> None:
    trace = scripts.trace(traces / "stall2")
    run = scripts.play(trace, 2, {"all": StepRange(1, 4)})
    run.finish()
    rows = recorded_rows(trace.ranks[2].recording.path)
    opened = [row for row in rows if row["k"] == "init"]
    told = run.calls("init")
    assert [(each["rank"], each["nranks"], each["nnodes"], each["name"]) for each in told] == [
        (row["rank"], row["nranks"], row["nnodes"], row["name"]) for row in opened
    ]
    assert [each["comm"] for each in told] == [int(row["comm_id"], 16) >> 1 for row in opened]
    assert len({each["mask_address"] for each in told}) == 1
    closed = [opened[row["comm"]]["comm_id"] for row in rows if row["k"] == "finalize"]
    assert [each["comm"] for each in run.calls("finalize")] == [int(comm, 16) >> 1 for comm in closed]
    assert {each["tid"] for each in run.calls("init", "finalize")} == {run.calls("init")[0]["tid"]}
    assert "recorder opens rank 2 of 8" in run.log()


def test_nothing_comes_before_its_time(scripts: Scripts, small: Any) -> None:
    for pace in (1.0, 2.5):
        run = scripts.play(small, 0, {"all": StepRange(0, 4)}, pace=pace)
        run.finish()
        begin = run.said("segment")[0]["at_ns"]
        rows = [row for row in recorded_rows(small.ranks[0].recording.path) if row["k"] == "start"]
        for kind in ("Coll", "KernelCh"):
            offsets = [row["t"] - 100_000_000 for row in rows if row["type"] == kind][:8]
            calls = [call["t"] for call in run.calls("start") if call["type"] == EventType[kind].bit]
            assert len(calls) == 8
            assert all(call >= begin + offset / pace for call, offset in zip(calls, offsets, strict=True))
        assert run.said("stop")[0]["at_ns"] - begin == pytest.approx(small.seconds(StepRange(0, 4)) * 1e9 / pace, abs=2)


def test_pace_leaves_durations_alone(scripts: Scripts, small: Any) -> None:
    run = scripts.play(small, 0, {"all": StepRange(0, 4)}, pace=10.0)
    run.finish()
    starts = {call["handle"]: call["ptimer"] for call in run.calls("start") if call["type"] == KERNEL}
    ends = {call["handle"]: call["value"] for call in run.calls("state") if call["state"] == 22}
    assert {ends[handle] - start for handle, start in starts.items()} == {50_000}


@pytest.mark.parametrize("mask", [0, COLL, KERNEL, COLL | KERNEL, COLL | EventType.ProxyStep.bit])
def test_emits_what_the_mask_asks_for(scripts: Scripts, small: Any, mask: int) -> None:
    run = scripts.play(small, 0, {"all": StepRange(0, 4)}, environment={"RECORDER_MASK": str(mask)})
    run.finish()
    found = Counter(EventType(call["type"].bit_length() - 1).name for call in run.calls("start"))
    # Any bit makes groups and API calls arrive. A kernel needs its Coll too, a proxy step its ProxyOp.
    expected = dict.fromkeys(("GroupApi", "CollApi", "Group") if mask else (), 8)
    if mask & COLL:
        expected["Coll"] = 8
        if mask & KERNEL:
            expected["KernelCh"] = 8
    assert dict(found) == expected


def test_the_mask_is_read_again_for_each_operation(scripts: Scripts, traces: Path) -> None:
    """The recorder rewrites it from the start of each Coll for the next one."""
    trace = scripts.trace(traces / "sweep2")
    environment = {"RECORDER_MASK": str(COLL | KERNEL), "RECORDER_INTERVAL": "4"}
    run = scripts.play(trace, 1, {"all": StepRange(0, trace.steps)}, pace=4.0, environment=environment)
    run.finish()
    colls = {call["handle"]: call for call in run.calls("start") if call["type"] == COLL}
    kernels = Counter(colls[call["parent"]]["seq"] for call in run.calls("start") if call["type"] == KERNEL)
    assert len(colls) == 277
    assert kernels == {call["seq"]: call["nchannels"] for call in colls.values() if call["seq"] % 4 == 0}


def test_the_mask_of_a_graph_is_that_of_its_capture(scripts: Scripts, traces: Path) -> None:
    """Recorded with KernelCh from the first operation on, whatever becomes of the mask later."""
    trace = scripts.trace(traces / "graph_late1", 3)
    environment = {"RECORDER_MASK": str(COLL | KERNEL), "RECORDER_INTERVAL": "1000000"}
    run = scripts.play(trace, 0, {"replays": StepRange(50, 60)}, environment=environment)
    run.finish()
    counts = Counter(call["type"] for call in run.calls("start"))
    assert (counts[COLL], counts[KERNEL]) == (30, 30 * 24)
    captured = [call for call in run.calls("start") if call["type"] == EventType.CollApi.bit]
    assert [call["captured"] for call in captured] == [1, 1, 1]
    parents = [call["parent"] for call in run.calls("start") if call["type"] == COLL]
    assert parents == [call["handle"] for call in captured] * 10


def test_a_plugin_decides_over_a_graph_when_told_of_its_capture(scripts: Scripts, traces: Path) -> None:
    trace = scripts.trace(traces / "graph_late1", 3)
    environment = {
        "RECORDER_MASK": str(COLL),
        "RECORDER_CAPTURE": str(COLL | KERNEL),
        "RECORDER_INTERVAL": "1000000",
    }
    run = scripts.play(trace, 0, {"replays": StepRange(50, 60)}, environment=environment)
    run.finish()
    counts = Counter(call["type"] for call in run.calls("start"))
    # The mask of the first call was read before anything told of the capture.
    assert (counts[COLL], counts[KERNEL]) == (30, 20 * 24)


def test_a_null_handle_is_the_parent_of_nothing(scripts: Scripts, small: Any) -> None:
    null = COLL | EventType.GroupApi.bit
    run = scripts.play(small, 0, {"all": StepRange(0, 4)}, environment={"RECORDER_NULL": str(null)})
    run.finish()
    starts = run.calls("start")
    for child in (EventType.KernelCh, EventType.ProxyOp, EventType.CollApi):
        assert [call["parent"] for call in starts if call["type"] == child.bit] == [0] * 8
    handles = {call["handle"] for call in starts} - {0}
    assert Counter(call["handle"] for call in run.calls("stop")) == dict.fromkeys(handles, 1)


@pytest.mark.parametrize("interface", range(1, 8))
def test_speaks_every_version(scripts: Scripts, small: Any, interface: int) -> None:
    run = scripts.play(small, 1, {"all": StepRange(0, 4)}, arguments=("--interface", str(interface)))
    run.finish()
    starts = {call["handle"]: call for call in run.calls("start")}
    types = ["Group", "Coll", "ProxyOp", "ProxyStep"]
    types += ["KernelCh"] * (interface >= 3) + ["GroupApi", "CollApi"] * (interface >= 5)
    assert Counter(EventType(call["type"].bit_length() - 1).name for call in starts.values()) == dict.fromkeys(types, 8)

    colls = [call for call in starts.values() if call["type"] == COLL]
    parent = EventType.CollApi if interface >= 5 else EventType.Group
    assert {starts[coll["parent"]]["type"] for coll in colls} == {parent.bit}
    assert [coll["seq"] for coll in colls] == [0, 0, 1, 1, 2, 2, 3, 3]
    names = ("rank", "func", "count", "dtype", "root", "nchannels", "nwarps", "algo", "proto")
    told = {tuple(coll[name] for name in names) for coll in colls}
    assert told == {(1, func, 64, "ncclFloat32", 0, 1, 8, "RING", "LL") for func in ("AllGather", "AllReduce")}

    states = Counter((call["state"], call["value"]) for call in run.calls("state") if call["state"] != 22)
    ends = [call["value"] for call in run.calls("state") if call["state"] == 22]
    if interface >= 4:
        assert states == dict.fromkeys([(19, -1), (8, 0), (20, 0), (9, 256)], 8)
        kernels = [call["ptimer"] for call in starts.values() if call["type"] == KERNEL]
        assert ends == [timer + 50_000 for timer in kernels]
    else:  # the states of version 3, which tell no values
        assert states == dict.fromkeys([(8, -1), (9, -1)], 8)
        assert ends == []

    (opened,) = run.calls("init")
    assert opened["interface"] == interface
    if interface >= 4:
        assert (opened["comm"], opened["nranks"], opened["rank"]) == (0x0123456789ABCDEF >> 1, 2, 1)
    else:
        assert {(coll["hash"], coll["name"]) for coll in colls} == {(0x0123456789ABCDEF >> 1, None)}


@pytest.mark.parametrize("interface", range(1, 8))
def test_tells_each_version_of_messages(scripts: Scripts, traces: Path, interface: int) -> None:
    trace = scripts.trace(traces / "pipe_late1")
    run = scripts.play(trace, 1, {"some": StepRange(20, 22)}, arguments=("--interface", str(interface)))
    run.finish()
    names = ("rank", "func", "count", "dtype", "peer") + ("nchannels",) * (interface >= 4)
    rank = trace.ranks[1]
    rows = [row for row in recorded_rows(rank.recording.path) if row["k"] in ("start", "stop", "state")]
    chosen = [row for row, step in zip(rows, rank.step, strict=True) if step in (20, 21) and row["k"] == "start"]
    expected = [tuple(row[name] for name in names) for row in chosen if row["type"] == "P2p"]
    starts = run.calls("start")
    messages = [call for call in starts if call["type"] == EventType.P2p.bit]
    assert len(expected) >= 4
    assert [tuple(call[name] for name in names) for call in messages] == expected
    steps = Counter(call["type"] for call in starts)[EventType.ProxyStep.bit]
    assert steps == sum(row["type"] == "ProxyStep" for row in chosen) > 0
    if interface < 4:
        inits = [row for row in recorded_rows(rank.recording.path) if row["k"] == "init"]
        hashes = {int(row["comm_id"], 16) >> 1: row["rank"] for row in inits}
        assert {hashes[call["hash"]] == call["rank"] for call in messages} == {True}


def test_takes_the_newest_version(scripts: Scripts, small: Any) -> None:
    run = scripts.play(small, 0, {"all": StepRange(0, 4)})
    run.finish()
    assert run.calls("init")[0]["interface"] == 7


def test_loops_go_on_counting(scripts: Scripts, small: Any) -> None:
    """Over many iterations and a switch: all ranks do the same, numbers have no gap, GPU time never runs back."""
    segments = {"a": StepRange(1, 2), "b": StepRange(2, 4)}
    runs = [scripts.play(small, rank, segments, start="line") for rank in range(2)]
    begin = PlayerRun.start_together(runs)
    for run in runs:
        run.tell(f"switch b {begin + 400_000_000}")
        run.tell(f"stop {begin + 800_000_001}")
    for run in runs:
        run.finish()
        assert [(each["name"], each["iteration"]) for each in run.said("segment")] == [("a", 0), ("b", 40)]
        starts = run.calls("start")
        for func in ("AllGather", "AllReduce"):
            colls = [call for call in starts if call["type"] == COLL and call["func"] == func]
            # 40 times one step; then two steps at a time of 10 ms and a bit (the last ends with its last callback)
            last = run.said("stop")[0]["iteration"] - 40
            assert [call["seq"] for call in colls] == list(range(1, 1 + 40 + 2 * last))
        timers = [call["ptimer"] for call in starts if call["type"] == KERNEL]
        assert (np.diff(timers) > 0).all()
        states = [call["value"] for call in run.calls("state") if call["state"] == 22]
        assert set(np.subtract(states, timers).tolist()) == {50_000}
        assert timers[0] + 400_000_000 == timers[80]  # the second segment begins one step later in the trace
    assert runs[0].said("segment") == runs[1].said("segment")
    assert runs[0].said("stop") == runs[1].said("stop")
    assert runs[0].said("stop")[0]["at_ns"] >= begin + 800_000_001
    sequences = [[(call["func"], call["seq"]) for call in run.calls("start") if call["type"] == COLL] for run in runs]
    assert sequences[0] == sequences[1]


def test_iterations_overlap_without_harm(scripts: Scripts, traces: Path) -> None:
    """A step of the pipeline is shorter than what hangs on it: its kernels end while the next iteration runs."""
    trace = scripts.trace(traces / "pipe_late1")
    run = scripts.play(trace, 1, {"one": StepRange(100, 101)}, start="line")
    begin = PlayerRun.start_together([run])
    run.tell(f"stop {begin + 300_000_000}")
    run.finish()
    starts = run.calls("start")
    kernels = Counter(call["parent"] for call in starts if call["type"] == KERNEL)
    operations = {call["handle"]: call["nchannels"] for call in starts if call["type"] in (COLL, EventType.P2p.bit)}
    assert kernels == operations
    assert len(operations) == 3 * run.said("stop")[0]["iteration"]
    assert Counter(call["handle"] for call in run.calls("stop")) == dict.fromkeys((c["handle"] for c in starts), 1)
