"""A recorded job's callbacks: what the plugin counts is what the recording says, summed up independently."""

import json
import lzma
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin.traces import DEMO, SHARED, recorded

from plugin import layout

ELEMENT_BYTES = {"ncclInt8": 1, "ncclFloat32": 4, "ncclBfloat16": 2, "ncclFloat16": 2}
SEND_STATES, RECEIVE_STATES = (8, 20, 9), (10, 11, 12)


def trace_path(trace: str) -> Path:
    return recorded(f"{trace}.jsonl.xz", (DEMO, SHARED))


class Recording:
    """Sums straight from the rows of one rank's trace."""

    def __init__(self, path: Path) -> None:
        self.communicators = {}
        self.starts = {}  # by the number of the handle
        self.times = defaultdict(list)  # of an operation's channels
        self.channels = defaultdict(Counter)  # (comm id, channel, is net) -> operations and ns
        self.links = defaultdict(Counter)  # (comm id, peer, is send) -> operations, bytes and steps by state
        self.net = set()  # (operation, channel)
        for line in lzma.decompress(path.read_bytes()).splitlines():
            self.take(json.loads(line))

    def take(self, row) -> None:
        match row["k"], row.get("type"):
            case "init", _:
                self.communicators[row["comm"]] = int(row["comm_id"], 16)
            case "start", kind:
                self.starts[row["id"]] = row
                if kind == "ProxyOp":
                    self.net.add((row["parent"], row["channel"]))
                if kind == "KernelCh":
                    self.times[row["parent"]].append(row["ptimer"])
            case "state", "KernelCh":
                self.stop_channel(self.starts[row["id"]], row["ptimer"])
            case "state", "ProxyStep":
                step = self.starts[row["id"]]
                step["bytes"] = row["trans_size"] or step.get("bytes", 0)  # it may be told late
                self.link(self.starts[step["parent"]])[row["state"]] += 1
            case "stop", "ProxyStep":
                step = self.starts[row["id"]]
                self.link(self.starts[step["parent"]])["bytes"] += step["bytes"]
            case "stop", "ProxyOp":
                self.link(self.starts[row["id"]])["operations"] += 1

    def identity(self, row) -> int:
        return self.communicators[row["comm"]]

    def stop_channel(self, start, ptimer: int) -> None:
        self.times[start["parent"]].append(ptimer)
        is_net = (start["parent"], start["channel"]) in self.net
        sums = self.channels[self.identity(start), start["channel"], is_net]
        sums.update(operations=1, duration_ns=ptimer - start["ptimer"])

    def link(self, proxy) -> Counter:
        return self.links[self.identity(proxy), proxy["peer"], bool(proxy["is_send"])]

    def operations(self, event_type: str) -> Iterator[tuple[dict, int, int]]:
        """Each operation of a type, its bytes and its duration in ns."""
        for number, row in self.starts.items():
            if row["type"] == event_type:
                times = self.times[number]
                yield row, row["count"] * ELEMENT_BYTES[row["dtype"]], max(times) - min(times)

    def cells(self) -> dict[tuple, list[int]]:
        """(comm id, op, algo, proto, size) -> durations in ns."""
        durations = defaultdict(list)
        for row, size, duration_ns in self.operations("Coll"):
            key = (self.identity(row), row["func"], row["algo"], row["proto"], size.bit_length() - 1)
            durations[key].append(duration_ns)
        return dict(durations)

    def peers(self) -> dict[tuple, tuple[int, int, int]]:
        """(comm id, op, peer, size) -> operations, duration in ns, bytes."""
        sums = defaultdict(lambda: (0, 0, 0))
        for row, size, duration_ns in self.operations("P2p"):
            key = (self.identity(row), row["func"], row["peer"], size.bit_length() - 1)
            operations, total_ns, total_bytes = sums[key]
            sums[key] = (operations + 1, total_ns + duration_ns, total_bytes + size)
        return dict(sums)


def counted_cells(data: bytes) -> dict[tuple, tuple[int, int, float]]:
    """Of all communicators: operations, duration in ns, sum of logarithms."""
    cells = {}
    for communicator in layout.communicators(data):
        for row in layout.rows(data, communicator, "cells", "Cell"):
            texts = (
                layout.name(data, layout.number(data, row, f"Cell.{part}"))
                for part in ("operation", "algorithm", "protocol")
            )
            key = (
                layout.number(data, communicator, "Communicator.id"),
                *texts,
                layout.number(data, row, "Cell.size_log2", "h"),
            )
            counts = layout.counts(data, row, "Cell")
            cells[key] = (
                layout.number(data, counts, "CellCounts.operations"),
                layout.number(data, counts, "CellCounts.duration_ns"),
                layout.number(data, counts, "CellCounts.log_microseconds", "d"),
            )
    return cells


def counted_peers(data: bytes) -> dict[tuple, tuple[int, int, int]]:
    peers = {}
    for communicator in layout.communicators(data):
        for row in layout.rows(data, communicator, "peers", "Peer"):
            operation = layout.name(data, layout.number(data, row, "Peer.operation"))
            who = (layout.number(data, row, "Peer.peer", "i"), layout.number(data, row, "Peer.size_log2", "h"))
            counts = layout.counts(data, row, "Peer")
            fields = ("operations", "duration_ns", "bytes")
            peers[(layout.number(data, communicator, "Communicator.id"), operation, *who)] = tuple(
                layout.number(data, counts, f"PeerCounts.{field}") for field in fields
            )
    return peers


def counted_links(data: bytes) -> dict[tuple, Counter]:
    links = {}
    for communicator in layout.communicators(data):
        for row in layout.rows(data, communicator, "links", "Link"):
            is_send = layout.number(data, row, "Link.direction") == layout.LAYOUT["Direction::kSend"]
            counts = layout.counts(data, row, "Link")
            sums = Counter(
                {field: layout.number(data, counts, f"LinkCounts.{field}") for field in ("operations", "bytes")}
            )
            first = counts + layout.LAYOUT["offsetof.LinkCounts.steps"]
            for place, state in enumerate(SEND_STATES if is_send else RECEIVE_STATES):
                sums[state] = int.from_bytes(data[first + 8 * place : first + 8 * place + 8], "little")
            key = (
                layout.number(data, communicator, "Communicator.id"),
                layout.number(data, row, "Link.peer", "i"),
                is_send,
            )
            links[key] = sums
    return links


def counted_channels(data: bytes) -> dict[tuple, Counter]:
    channels = {}
    for communicator in layout.communicators(data):
        identity = layout.number(data, communicator, "Communicator.id")
        for channel, start in enumerate(layout.elements(communicator, "Communicator.channels", "Channel")):
            for transport, is_net in (
                (layout.LAYOUT["Transport::kP2p"], False),
                (layout.LAYOUT["Transport::kNet"], True),
            ):
                words = {
                    field: layout.number(data, start + 8 * transport, f"Channel.{field}", "Q")
                    for field in ("operations", "duration_ns")
                }
                if words["operations"]:
                    channels[identity, channel, is_net] = Counter(words)
    return channels


@pytest.fixture
def replay(start_job, directory):
    """Plays a trace in a job and gives the file, while the job still has it, and the number of callbacks."""

    def replay(path: Path, version: int) -> tuple[bytes, int]:
        job = start_job(version=version, environment={"NCCL_SENTINEL_SAMPLE": "all"})
        job.tell("load")
        calls = job.tell("replay", str(path))
        (file,) = directory.iterdir()
        return file.read_bytes(), calls

    return replay


@pytest.mark.parametrize("version", [4, 5, 7])
@pytest.mark.parametrize(
    "trace", ["late1ms/rank03", "stall2/rank02", "mixchange/rank00", "p2p_late6/rank01", "graph_late1/rank01"]
)
def test_sums_are_those_of_the_recording(replay, version, trace):
    path = trace_path(trace)
    data, calls = replay(path, version)
    recorded = Recording(path)

    expected = recorded.cells()
    cells = counted_cells(data)
    assert cells.keys() == expected.keys()
    assert cells
    for key, durations in expected.items():
        operations, total, logarithms = cells[key]
        assert (operations, total) == (len(durations), sum(durations))
        assert logarithms == pytest.approx(sum(math.log(max(1.0, ns / 1000)) for ns in durations), rel=1e-12)
    assert counted_peers(data) == recorded.peers()
    assert counted_channels(data) == recorded.channels
    assert counted_links(data) == recorded.links
    callbacks = [layout.number(data, each, "Communicator.callbacks") for each in layout.communicators(data)]
    # Those of calls and groups are counted in batches.
    assert 0 <= calls - sum(callbacks) < 64 * len(callbacks)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_early_versions_count_what_was_launched(replay, version):
    path = trace_path("late1ms/rank03")
    data, _ = replay(path, version)
    expected = Counter((key[0], key[1]) for key, durations in Recording(path).cells().items() for _ in durations)
    untimed = layout.LAYOUT["offsetof.Operation.left_out"] + 8 * layout.LAYOUT["Outcome::kUntimed"]
    counted = Counter()
    for communicator in layout.communicators(data):
        for row in layout.rows(data, communicator, "operations", "Operation"):
            operation = layout.name(data, layout.number(data, row, "Operation.name"))
            key = (layout.number(data, communicator, "Communicator.id"), operation)
            counted[key] += int.from_bytes(data[row + untimed : row + untimed + 8], "little")
    assert +counted == expected
    assert not counted_cells(data)
