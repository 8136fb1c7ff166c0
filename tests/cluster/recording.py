"""A recorded job as the snapshots that the metrics store would have given, straight from the trace.

It shares no code with the plugin, the player or the exporter, and so is a witness against them as well.
"""

import json
import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentinel.model.snapshot import CellTable, CommunicatorTable, InFlightTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary

TRACES = Path(__file__).parents[3] / "shared" / "traces"
_BYTES = {"ncclInt8": 1, "ncclUint8": 1, "ncclFloat16": 2, "ncclBfloat16": 2, "ncclFloat32": 4, "ncclInt64": 8}


@dataclass(frozen=True)
class Operation:
    """One collective of one rank. Times in seconds."""

    rank: int
    comm: int
    op: str
    size: str
    algo: str
    proto: str
    launched: float
    finished: float
    duration: float


@dataclass(frozen=True)
class Segment:
    """Steps first … last − 1, played over and over for at least `seconds`."""

    first: int
    last: int
    seconds: float


@dataclass(frozen=True)
class Bursts:
    """Sampling as the plugin documents it: `burst` of every `period` operations of a stream, by number.

    A stream of few operations a second is timed whole: at each period the rate of the last one decides.
    """

    burst: int = 4
    period: int = 64
    few: float = 40.0
    many: float = 60.0

    def timed(self, launched: np.ndarray) -> np.ndarray:
        """Whether each operation of one stream is timed. launched: seconds, in order, shape (n,)."""
        whole, choices = True, []
        for length in np.diff(launched[:: self.period], prepend=np.nan):
            rate = self.period / length if length > 0 else math.nan
            whole = (whole or rate < self.few) and not rate > self.many
            choices.append(whole)
        number = np.arange(len(launched))
        return (number % self.period < self.burst) | np.array(choices)[number // self.period]


class RecordedJob:
    """A trace, cut into steps of `ops_per_step` operations after `skip` of them.

    Everything is timed, or what `sampled` says.
    """

    def __init__(self, directory: Path, ops_per_step: int, skip: int = 0, sampled: Bursts | None = None) -> None:
        self.vocabulary = Vocabulary()
        self._sampled = sampled
        files = sorted(directory.glob("rank*.jsonl.xz"))
        assert files, directory
        ranks = [_read(path, rank) for rank, path in enumerate(files)]
        self._communicators = {(rank, init["comm"]): init for rank, (inits, _) in enumerate(ranks) for init in inits}
        self._operations = [operations[skip:] for _, operations in ranks]
        self._per_step = ops_per_step
        steps = min(map(len, self._operations)) // ops_per_step
        self._begin = [min(ops[ops_per_step * k].launched for ops in self._operations) for k in range(steps)]

    def snapshots(self, segments: Sequence[Segment], tick: float = 2.0) -> Iterator[Snapshot]:
        """What the store would have said every `tick` seconds, from time 0."""
        operations = [each for rank in self._operations for each in rank if each.op]
        cells = sorted({self._key(each) for each in operations})
        series = sorted({key[:3] for key in cells})
        ranks = sorted({key[:2] for key in cells})
        launched, finished, duration, cell, timed, end = self._play(segments, {key: n for n, key in enumerate(cells)})
        of_series = np.array([series.index(key[:3]) for key in cells])[cell]
        of_rank = np.array([ranks.index(key[:2]) for key in cells])[cell]
        logs = np.log(np.maximum(1.0, duration * 1e6))
        for number in range(1, int(end / tick) + 1):
            now = number * tick
            done, begun = timed & (finished <= now), launched <= now
            counted = [np.bincount(cell[done], x, len(cells)) for x in (done[done], duration[done], logs[done])]
            age = np.zeros(len(ranks))
            flying = begun & timed & ~done
            np.maximum.at(age, of_rank[flying], now - launched[flying])
            info = _codes(self._info(), 10)
            yield Snapshot(
                time=now,
                vocabulary=self.vocabulary,
                communicators=CommunicatorTable(*info),
                cells=CellTable(*_codes(cells, 6), *counted),
                started=StartedTable(
                    *_codes(series, 3), np.bincount(of_series[begun], minlength=len(series)).astype(float)
                ),
                in_flight=InFlightTable(*_codes(ranks, 2), age),
                sampled_at=np.full(info.shape[1], now),
            )

    def _play(
        self, segments: Sequence[Segment], number: dict[tuple[int, ...], int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
        """Launch, finish, duration and cell of every operation played, whether it is timed, and when it all ends."""
        now, parts = 0.0, []
        streams: dict[tuple[int, ...], int] = {}
        for segment in segments:
            begin = self._begin[segment.first]
            length = self._begin[segment.last] - begin
            steps = slice(segment.first * self._per_step, segment.last * self._per_step)
            once = np.array(
                [
                    (
                        each.launched - begin,
                        each.finished - begin,
                        each.duration,
                        number[self._key(each)],
                        streams.setdefault((each.rank, each.comm, self.vocabulary.code(each.op)), len(streams)),
                    )
                    for rank in self._operations
                    for each in rank[steps]
                    if each.op
                ]
            )
            for _ in range(math.ceil(segment.seconds / length)):
                parts.append(once + np.array([now, now, 0.0, 0.0, 0.0]))
                now += length
        launched, finished, duration, cell, stream = np.concatenate(parts).T
        timed = np.ones(len(cell), dtype=bool)
        if self._sampled is not None:
            for each in range(len(streams)):
                timed[stream == each] = self._sampled.timed(launched[stream == each])
        return launched, finished, duration, cell.astype(np.int64), timed, now

    def _key(self, each: Operation) -> tuple[int, ...]:
        code, init = self.vocabulary.code, self._communicators[each.rank, each.comm]
        comm = code(init["comm_id"])
        return (comm, init["rank"], code(each.op), code(each.size), code(each.algo), code(each.proto))

    def _info(self) -> list[tuple[int, ...]]:
        code = self.vocabulary.code
        return [
            (
                code(init["comm_id"]),
                init["rank"],
                rank,
                init["nranks"],
                init["nnodes"],
                code(init["name"] or ""),
                code(f"node{rank // 2}"),
                code(str(rank % 2)),
                0,
                code("job"),
            )
            for (rank, _), init in self._communicators.items()
        ]


def _codes(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(-1, width).T


def _read(path: Path, rank: int) -> tuple[list[dict], list[Operation]]:
    """The `init` rows of a rank, and its operations in order; Send and Recv keep their place with an empty `op`."""
    inits, order = [], []
    rows: dict[int, dict] = {}
    kernels: dict[int, dict] = {}
    with lzma.open(path) as lines:
        for line in lines:
            if b'"Proxy' in line:
                continue
            row = json.loads(line)
            if row["k"] == "init":
                inits.append(row)
            elif row["k"] == "start" and row["type"] in ("Coll", "P2p"):
                rows[row["id"]] = row | {"starts": [], "stops": [], "seen": row["t"]}
                order.append(row["id"])
            elif row.get("type") == "KernelCh" and row["k"] == "start" and row["parent"] in rows:
                kernels[row["id"]] = rows[row["parent"]]
                kernels[row["id"]]["starts"].append(row["ptimer"])
            elif row.get("state") == 22 and row["id"] in kernels:
                kernels[row["id"]]["stops"].append(row["ptimer"])
                kernels[row["id"]]["seen"] = row["t"]
    return inits, [_operation(rows[number], rank) for number in order]


def _operation(row: dict, rank: int) -> Operation:
    size = row["count"] * _BYTES[row["dtype"]]
    return Operation(
        rank=rank,
        comm=row["comm"],
        op=row["func"] if row["type"] == "Coll" and row["stops"] else "",
        size=str(1 << (size.bit_length() - 1)) if size else "0",
        algo=row.get("algo") or "",
        proto=row.get("proto") or "",
        launched=row["t"] * 1e-9,
        finished=row["seen"] * 1e-9,
        duration=(max(row["stops"]) - min(row["starts"])) * 1e-9 if row["stops"] else 0.0,
    )
