"""A recorded job with its Sends and Recvs, straight from the trace."""

import json
import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cluster.recording import Bursts, RecordedJob, Segment

from sentinel.model.snapshot import PeerTable, Snapshot, StartedTable


@dataclass(frozen=True)
class Transfer:
    """One Send or Recv of one rank. Times in seconds."""

    comm: int
    op: str
    peer: int
    launched: float
    finished: float
    duration: float


class PeerRecordedJob(RecordedJob):
    """As `RecordedJob`, with every Send and Recv by its peer; sampled ones are numbered per peer."""

    def __init__(self, directory: Path, ops_per_step: int, skip: int = 0, sampled: Bursts | None = None) -> None:
        super().__init__(directory, ops_per_step, skip, sampled)
        files = sorted(directory.glob("rank*.jsonl.xz"))
        self._transfers = [(rank, each) for rank, path in enumerate(files) for each in _read(path)]

    def snapshots(self, segments: Sequence[Segment], tick: float = 2.0) -> Iterator[Snapshot]:
        keys = [self._stream(rank, each) for rank, each in self._transfers]
        series = sorted(set(keys))
        kinds = sorted({key[:3] for key in series})
        of_kind = np.array([kinds.index(key[:3]) for key in series], dtype=int)
        launched, finished, duration, stream = self._play_transfers(segments, [series.index(key) for key in keys])
        timed = np.ones(len(stream), dtype=bool)
        if self._sampled is not None:
            for number in range(len(series)):
                mine = np.flatnonzero(stream == number)
                mine = mine[np.argsort(launched[mine], kind="stable")]
                timed[mine] = self._sampled.timed(launched[mine])
        for snapshot in super().snapshots(segments, tick):
            done = timed & (finished <= snapshot.time) & (duration > 0)
            begun = np.bincount(stream[launched <= snapshot.time], minlength=len(series))
            yield replace(
                snapshot,
                peers=PeerTable(
                    *np.array(series, dtype=np.int32).reshape(-1, 4).T,
                    np.bincount(stream[done], minlength=len(series)).astype(float),
                    np.bincount(stream[done], duration[done], len(series)),
                ),
                started=_joined(
                    snapshot.started, kinds, np.bincount(of_kind, begun, len(kinds)) if kinds else np.empty(0)
                ),
            )

    def _stream(self, rank: int, each: Transfer) -> tuple[int, int, int, int]:
        init = self._communicators[rank, each.comm]
        return self.vocabulary.code(init["comm_id"]), init["rank"], self.vocabulary.code(each.op), each.peer

    def _play_transfers(
        self, segments: Sequence[Segment], streams: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Launch, finish, duration and stream of every transfer played, in the time of the collectives."""
        times = [(each.launched, each.finished, each.duration) for _, each in self._transfers]
        rows = np.column_stack([np.array(times).reshape(-1, 3), np.array(streams)])
        now, parts = 0.0, [np.empty((0, 4))]
        for segment in segments:
            begin, end = self._begin[segment.first], self._begin[segment.last]
            once = rows[(rows[:, 0] >= begin) & (rows[:, 0] < end)] - [begin, begin, 0.0, 0.0]
            for _ in range(math.ceil(segment.seconds / (end - begin))):
                parts.append(once + np.array([now, now, 0.0, 0.0]))
                now += end - begin
        launched, finished, duration, stream = np.concatenate(parts).T
        return launched, finished, duration, stream.astype(int)


def _joined(started: StartedTable, kinds: Sequence[tuple[int, ...]], begun: np.ndarray) -> StartedTable:
    comm, rank, op = np.array(kinds, dtype=np.int32).reshape(-1, 3).T
    return StartedTable(
        np.concatenate([started.comm, comm]),
        np.concatenate([started.rank, rank]),
        np.concatenate([started.op, op]),
        np.concatenate([started.started, begun]),
    )


def _read(path: Path) -> list[Transfer]:
    rows: dict[int, dict] = {}
    kernels: dict[int, dict] = {}
    with lzma.open(path) as lines:
        for line in lines:
            if b'"Proxy' in line:
                continue
            row = json.loads(line)
            if row["k"] == "start" and row["type"] == "P2p":
                rows[row["id"]] = row | {"starts": [], "stops": [], "seen": row["t"]}
            elif row["k"] == "start" and row["type"] == "KernelCh" and row["parent"] in rows:
                kernels[row["id"]] = rows[row["parent"]]
                kernels[row["id"]]["starts"].append(row["ptimer"])
            elif row.get("state") == 22 and row["id"] in kernels:
                kernels[row["id"]]["stops"].append(row["ptimer"])
                kernels[row["id"]]["seen"] = row["t"]
    return [
        Transfer(
            comm=row["comm"],
            op=row["func"],
            peer=row["peer"],
            launched=row["t"] * 1e-9,
            finished=row["seen"] * 1e-9,
            duration=(max(row["stops"]) - min(row["starts"])) * 1e-9 if row["stops"] else 0.0,
        )
        for row in rows.values()
    ]
