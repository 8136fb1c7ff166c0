"""Benchmark runs as an exporter would show them: what each rank measured, by size, algorithm and protocol.

Physical and seeded: ranks arrive at their own moments, and are inside for (last arrival − own arrival) + transfer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sentinel.model.snapshot import CellTable, CommunicatorTable, InFlightTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary
from sentinel.model.volume import CollectiveBytesTable, PointToPointTable, Volume

START = 1_700_000_000.0
TICK = 10.0


@dataclass(frozen=True)
class Kind:
    """Operations of one kind, so many in each tick."""

    transfer_seconds: float
    op: str = "AllReduce"
    message_bytes: int = 1 << 20
    algo: str = "RING"
    proto: str = "SIMPLE"
    per_tick: int = 20

    @property
    def size(self) -> str:
        return str(1 << (self.message_bytes.bit_length() - 1))


@dataclass
class Job:
    """One communicator. `noise` is the standard deviation of a tick's transfers from their own time, as a ratio."""

    kinds: Sequence[Kind]
    job_id: str = "a"
    comm: str = "00000000000000aa"
    comm_name: str = ""
    nodes: Sequence[str] = ("n0", "n1")
    nranks: int = 4
    jitter_seconds: float = 1e-6
    noise: float = 0.01
    seed: int = 1
    late_seconds: Sequence[float] = ()
    launched_per_measured: int = 1
    untimed: Sequence[int] = ()  # ranks that measure nothing
    counters: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def advance(self) -> None:
        for number, kind in enumerate(self.kinds):
            transfer = kind.transfer_seconds * np.exp(self.random.normal(0, self.noise))
            arrival = self.random.normal(0, self.jitter_seconds, (kind.per_tick, self.nranks))
            arrival += np.array(self.late_seconds or np.zeros(self.nranks))
            duration = arrival.max(axis=1, keepdims=True) - arrival + transfer
            for rank in sorted(set(range(self.nranks)) - set(self.untimed)):
                own = duration[:, rank]
                gained = [len(own), own.sum(), np.log(own * 1e6).sum(), len(own) * kind.message_bytes]
                counter = self.counters.setdefault((number, rank), np.zeros(4))
                counter += gained


def history(jobs: Sequence[Job], ticks: int = 30) -> Iterator[tuple[Snapshot, Volume]]:
    """All jobs at once, every `TICK` seconds from `START`; the first instant shows the processes and no operation."""
    vocabulary = Vocabulary()
    for tick in range(ticks + 1):
        if tick:
            for job in jobs:
                job.advance()
        yield _at(START + tick * TICK, jobs, vocabulary)


def _at(time: float, jobs: Sequence[Job], vocabulary: Vocabulary) -> tuple[Snapshot, Volume]:
    code = vocabulary.code
    who, cells, started, moved = [], [], {}, {}
    for job in jobs:
        comm = code(job.comm)
        for rank in range(job.nranks):
            node = job.nodes[rank * len(job.nodes) // job.nranks]
            names = [code(text) for text in (job.comm_name, node, str(rank), f"GPU-{node}-{rank}", job.job_id)]
            who.append((comm, rank, rank, job.nranks, len(job.nodes), *names))
        for (number, rank), counter in job.counters.items():
            kind = job.kinds[number]
            labels = [code(text) for text in (kind.op, kind.size, kind.algo, kind.proto)]
            cells.append((comm, rank, *labels, *counter[:3]))
            key = (comm, rank, labels[0])
            moved[key] = moved.get(key, 0.0) + counter[3]
            started[key] = started.get(key, 0.0) + counter[0] * job.launched_per_measured
    columns = _columns(cells, 9)
    snapshot = Snapshot(
        time=time,
        vocabulary=vocabulary,
        communicators=CommunicatorTable(*_codes(who, 10)),
        cells=CellTable(*_codes([row[:6] for row in cells], 6), *columns[6:]),
        started=StartedTable(*_codes(list(started), 3), np.array(list(started.values()), dtype=float)),
        in_flight=InFlightTable(*_codes([row[:2] for row in who], 2), np.zeros(len(who))),
        sampled_at=np.full(len(who), time),
    )
    empty = Volume.empty(time).point_to_point
    return snapshot, Volume(
        time, CollectiveBytesTable(*_codes(list(moved), 3), np.array(list(moved.values()), dtype=float)), empty
    )


def sends(volume: Volume, rows: Sequence[tuple[int, int, int, int, float, float, float]]) -> Volume:
    """The same, with Sends and Recvs: comm, rank, op and size as codes, then operations, seconds and bytes."""
    columns = _columns(rows, 7)
    table = PointToPointTable(*_codes([row[:4] for row in rows], 4), *columns[4:])
    return Volume(volume.time, volume.collectives, table)


def bytes_text(history: Sequence[tuple[Snapshot, Volume]]) -> str:
    """The bytes as OpenMetrics history, without its end."""
    lines = ["# TYPE nccl_collective_bytes counter"]
    for snapshot, volume in history:
        table, text = volume.collectives, snapshot.vocabulary.text
        for comm, rank, op, value in zip(table.comm, table.rank, table.op, table.size_bytes, strict=True):
            labels = f'comm="{text(comm)}",rank="{rank}",op="{text(op)}"'
            lines.append(f"nccl_collective_bytes_total{{{labels}}} {value} {volume.time:.3f}")
    return "\n".join(lines) + "\n"


def _columns(rows: Sequence[tuple[float, ...]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, width).T


def _codes(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(-1, width).T
