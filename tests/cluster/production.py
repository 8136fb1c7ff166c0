"""A production trace of training steps as the snapshots that the metrics store would have given.

Its operations have one row each: rank, pipeline stage, step, kind and duration. Stages reduce gradients and gather
parameters in a communicator of their own, the ranks of one replica send and receive along the pipeline in another. The
first and the last stage add up the embedding's gradients, and the norm of all gradients is everybody's. That these two
are communicators is inferred: in every step they end on all of their ranks within 11 ms, and begin up to 21 s apart.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet

from sentinel.model.snapshot import CellTable, CommunicatorTable, InFlightTable, PeerTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary

TRACES = Path(__file__).parents[3] / "shared" / "straggler_traces"

_STAGE, _PIPELINE, _EMBEDDING, _WORLD = 0xA0, 0xB0, 0xC0, 0xD0  # communicator ids begin with
_COLLECTIVES = {
    "grads-reduce-scatter": ("ReduceScatter", _STAGE),
    "params-all-gather": ("AllGather", _STAGE),
    "embedding-grads-all-reduce": ("AllReduce", _EMBEDDING),
    "optimizer-clip-main-grad": ("AllReduce", _WORLD),
}
# Operation, and the stage that it is from or for, relative to its own.
_TRANSFERS = {
    "forward-recv": ("Recv", -1),
    "forward-send": ("Send", 1),
    "backward-recv": ("Recv", 1),
    "backward-send": ("Send", -1),
}


class ProductionJob:
    """Everything is timed. The steps that the trace has, which are not all, follow one another."""

    def __init__(self, path: Path) -> None:
        self.vocabulary = Vocabulary()
        table = pyarrow.parquet.read_table(path)
        column = {name: table[name].to_numpy() for name in table.column_names if name != "optype"}
        kind = np.array(table["optype"].to_pylist())
        self._step = np.unique(column["step"], return_inverse=True)[1]
        self._rank, self._duration = column["rank"], column["duration"].astype(float)
        begin, end = np.full((2, self._step.max() + 1), np.inf)
        np.minimum.at(begin, self._step, column["start_ts"])
        np.minimum.at(end, self._step, -(column["start_ts"] + column["duration"]))
        self._step_end = np.cumsum(-end - begin)
        places = zip(*(column[name].tolist() for name in ("rank", "stage", "dp_rank")), strict=True)
        self._joined = self._join({rank: (stage, replica) for rank, stage, replica in places})
        self._rows = {name: np.flatnonzero(kind == name) for name in (*_COLLECTIVES, *_TRANSFERS)}

    def snapshots(self, steps_per_tick: int = 1) -> Iterator[Snapshot]:
        """The store at the end of every `steps_per_tick` steps, from before the first."""
        for steps in range(0, len(self._step_end) + 1, steps_per_tick):
            yield self._after(steps)

    def _after(self, steps: int) -> Snapshot:
        code = self.vocabulary.code
        cells, peers, started = [], [], []
        for name, (op, kind) in _COLLECTIVES.items():
            for rank, count, seconds, logs in self._counted(name, steps):
                comm, place, _ = self._joined[rank][kind]
                cells.append((comm, place, code(op), 0, code("RING"), code("SIMPLE"), count, seconds, logs))
                started.append((comm, place, code(op), count))
        for name, (op, offset) in _TRANSFERS.items():
            for rank, count, seconds, _ in self._counted(name, steps):
                comm, stage, _ = self._joined[rank][_PIPELINE]
                peers.append((comm, stage, code(op), stage + offset, count, seconds))
                started.append((comm, stage, code(op), count))
        info = _columns(self._info(), 10, 0)
        time = float(self._step_end[steps - 1]) if steps else 0.0
        return Snapshot(
            time=time,
            vocabulary=self.vocabulary,
            communicators=CommunicatorTable(*info),
            cells=CellTable(*_columns(cells, 6, 3)),
            started=StartedTable(*_columns(_summed(started), 3, 1)),
            in_flight=InFlightTable(info[0], info[1], np.zeros(len(info[0]))),
            sampled_at=np.full(len(info[0]), time),
            peers=PeerTable(*_columns(peers, 4, 2)),
        )

    def _counted(self, name: str, steps: int) -> Iterator[tuple[int, float, float, float]]:
        """Of one kind of operation in the first steps: rank, count, seconds, and sum of the logarithm."""
        rows = self._rows[name]
        for rank in np.unique(self._rank[rows]).tolist():
            duration = self._duration[rows[(self._rank[rows] == rank) & (self._step[rows] < steps)]]
            yield rank, len(duration), duration.sum(), np.log(np.maximum(1.0, 1e6 * duration)).sum()

    def _join(self, places: dict[int, tuple[int, int]]) -> dict[int, dict[int, tuple[int, int, int]]]:
        """The communicators that each rank is in, by kind: code, rank in it, and its number of ranks."""
        stages = 1 + max(stage for stage, _ in places.values())
        replicas = 1 + max(replica for _, replica in places.values())
        joined: dict[int, dict[int, tuple[int, int, int]]] = {}
        for number, (rank, (stage, replica)) in enumerate(sorted(places.items())):
            joined[rank] = {
                _STAGE: (self._comm(_STAGE + stage), replica, replicas),
                _PIPELINE: (self._comm(_PIPELINE + replica), stage, stages),
                _WORLD: (self._comm(_WORLD), number, len(places)),
            }
            if stage in (0, stages - 1):
                joined[rank][_EMBEDDING] = (self._comm(_EMBEDDING + replica), int(stage > 0), 2)
        return joined

    def _comm(self, number: int) -> int:
        return self.vocabulary.code(f"{number:016x}")

    def _info(self) -> list[tuple[int, ...]]:
        node, job = self.vocabulary.code("node"), self.vocabulary.code("job")
        return [
            (comm, place, rank, nranks, 1, 0, node, 0, 0, job)
            for rank, communicators in self._joined.items()
            for comm, place, nranks in communicators.values()
        ]


def _summed(rows: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Rows of one key as one."""
    sums: dict[tuple[float, ...], float] = {}
    for *key, count in rows:
        sums[tuple(key)] = sums.get(tuple(key), 0.0) + count
    return [(*key, count) for key, count in sums.items()]


def _columns(rows: list[tuple[float, ...]], codes: int, values: int) -> list[np.ndarray]:
    table = np.array(rows, dtype=float).reshape(-1, codes + values).T
    return [*table[:codes].astype(np.int32), *table[codes:]]
