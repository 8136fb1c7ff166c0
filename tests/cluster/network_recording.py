"""The network steps of a recorded job, as the counters that the metrics store would have given.

States are added up as the plugin documents it: a state lasts until the step's next one or its stop, and what a network
operation's steps took is counted when it stops, if its collective, Send or Recv was chosen to be timed.
"""

import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import orjson
from cluster.recording import RecordedJob, Segment

from sentinel.model.snapshot import NetworkTable, Snapshot
from sentinel.model.vocabulary import Vocabulary

# By NCCL's number of the state: direction, name.
STATES = {
    8: ("send", "gpu_wait"),
    20: ("send", "peer_wait"),
    9: ("send", "wire"),
    10: ("recv", "wire"),
    11: ("recv", "flush"),
    12: ("recv", "gpu_wait"),
}

Key = tuple[str, int, int, str, str]  # comm id, rank, peer, direction, state


@dataclass(frozen=True)
class Steps:
    """What one network operation's steps spent in one state; it was counted at `stopped`. Times in seconds."""

    key: Key
    stopped: float
    count: int
    seconds: float


@dataclass(frozen=True)
class Message:
    """One collective, Send or Recv of one rank, with its network steps."""

    comm: str
    op: str
    launched: float
    steps: tuple[Steps, ...]


class NetworkRecording:
    """Adds network counters to the snapshots of a recorded job, which it has to be cut like: see `RecordedJob`."""

    def __init__(self, directory: Path, job: RecordedJob, skip: int = 0) -> None:
        self._job = job
        self._messages = [_read(path)[skip:] for path in sorted(directory.glob("rank*.jsonl.xz"))]

    def snapshots(self, segments: Sequence[Segment], tick: float = 2.0) -> Iterator[Snapshot]:
        """What the store would have said every `tick` seconds, from time 0."""
        keys = sorted({each.key for rank in self._messages for message in rank for each in message.steps})
        stopped, of_key, count, seconds = self._play(segments, {key: number for number, key in enumerate(keys)})
        for snapshot in self._job.snapshots(segments, tick):
            done = stopped <= snapshot.time
            sums = [np.bincount(of_key[done], values[done], len(keys)).astype(float) for values in (count, seconds)]
            yield replace(snapshot, network=_table(keys, snapshot.vocabulary, *sums))

    def _play(
        self, segments: Sequence[Segment], number: dict[Key, int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """When each network operation's state is counted, its key's number, its steps and seconds."""
        now, rows, per_step = 0.0, [], self._job._per_step
        launched: dict[tuple[int, str, str], list[float]] = {}
        for segment in segments:
            begin = self._job._begin[segment.first]
            length = self._job._begin[segment.last] - begin
            messages = slice(segment.first * per_step, segment.last * per_step)
            for _ in range(math.ceil(segment.seconds / length)):
                for rank, all_of_rank in enumerate(self._messages):
                    for message in all_of_rank[messages]:
                        stream = launched.setdefault((rank, message.comm, message.op), [])
                        for each in message.steps:
                            at = (now + each.stopped - begin, number[each.key], each.count, each.seconds)
                            rows.append((stream, len(stream), at))
                        stream.append(now + message.launched - begin)
                now += length
        sampled = self._job._sampled
        timed = {id(times): sampled.timed(np.array(times)) for times in launched.values()} if sampled else {}
        kept = [at for stream, place, at in rows if sampled is None or timed[id(stream)][place]]
        stopped, of_key, count, seconds = np.array(kept).reshape(-1, 4).T
        return stopped, of_key.astype(np.int64), count, seconds


def _table(keys: Sequence[Key], vocabulary: Vocabulary, steps: np.ndarray, seconds: np.ndarray) -> NetworkTable:
    code = vocabulary.code
    rows = [(code(comm), rank, peer, code(direction), code(state)) for comm, rank, peer, direction, state in keys]
    return NetworkTable(*np.array(rows, dtype=np.int32).reshape(-1, 5).T, steps, seconds)


@cache
def _read(path: Path) -> tuple[Message, ...]:
    """The messages of one rank in the order of their launch."""
    comms: dict[int, dict] = {}
    messages: dict[int, tuple[dict, list[Steps]]] = {}
    operations: dict[int, tuple[dict, dict[int, list[int]]]] = {}  # by state: how often and for how many ns
    current: dict[int, list[int]] = {}  # by step: its operation, the state it is in, since when
    with lzma.open(path) as lines:
        for line in lines:
            if b'"Kernel' in line:
                continue
            row = orjson.loads(line)
            kind, event = row["k"], row.get("type")
            if kind == "init":
                comms[row["comm"]] = row
            elif kind == "start" and event in ("Coll", "P2p"):
                messages[row["id"]] = (row, [])
            elif kind == "start" and event == "ProxyOp":
                operations[row["id"]] = (row, {})
            elif kind == "start" and event == "ProxyStep":
                current[row["id"]] = [row["parent"], 0, row["t"]]
            elif kind == "state" and row.get("state") in STATES and row["id"] in current:
                _close(current[row["id"]], operations, row["t"])
                current[row["id"]][1:] = [row["state"], row["t"]]
            elif kind == "stop" and event == "ProxyStep" and row["id"] in current:
                _close(current.pop(row["id"]), operations, row["t"])
            elif kind == "stop" and event == "ProxyOp" and row["id"] in operations:
                start, states = operations.pop(row["id"])
                if start["parent"] in messages:
                    comm = comms[start["comm"]]
                    messages[start["parent"]][1].extend(
                        Steps(
                            key=(comm["comm_id"], comm["rank"], start["peer"], *STATES[state]),
                            stopped=row["t"] * 1e-9,
                            count=count,
                            seconds=nanoseconds * 1e-9,
                        )
                        for state, (count, nanoseconds) in states.items()
                    )
    return tuple(
        Message(comms[row["comm"]]["comm_id"], row["func"], row["t"] * 1e-9, tuple(steps))
        for row, steps in messages.values()
    )


def _close(step: Sequence[int], operations: dict[int, tuple[dict, dict[int, list[int]]]], now: int) -> None:
    operation, state, since = step
    if state and operation in operations:
        sums = operations[operation][1].setdefault(state, [0, 0])
        sums[0] += 1
        sums[1] += now - since
