"""A simulated training job, as the snapshots that the metrics store would give.

Physical and seeded: in each step every rank arrives at a collective after its own compute time, and is inside it for
(last arrival − own arrival) + transfer. Nothing in it knows what a detector looks for.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sentinel.model.snapshot import CellTable, CommunicatorTable, DataQuality, InFlightTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary


@dataclass(frozen=True)
class Cell:
    """One collective of every step."""

    op: str = "AllReduce"
    size: str = "1048576"
    transfer_seconds: float = 0.001
    jitter_seconds: float | None = None  # of the arrivals; the job's where it has none of its own


@dataclass
class Job:
    """A job of `nranks` in one communicator. Change `delay_seconds[rank]`, `cells`, `silent`… to break it."""

    nranks: int = 8
    step_seconds: float = 0.010
    jitter_seconds: float = 0.00005
    cells: tuple[Cell, ...] = (Cell(), Cell("AllGather", "65536", 0.0002))
    seed: int = 1
    tick_seconds: float = 2.0
    comm: str = "00000000000000aa"
    comm_name: str = ""
    job_id: str = "job"
    start: float = 1_000_000.0
    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.time = self.start
        self.delay_seconds = np.zeros(self.nranks)  # before each step
        self.late_everywhere = np.zeros(self.nranks)  # before each collective
        self.stuck: int | None = None  # a rank that launches nothing, so that the others wait
        self.paused = False
        self.transfer_ratio = 1.0  # of the fabric, against the cells' own transfer times
        self.silent: set[int] = set()  # ranks whose series are missing
        self.timed_ratio = 1.0  # of the steps; what is stuck shows in flight where all of them are
        self.scraped_at: float | None = None  # no newer sample than of then, though the store still shows them
        self.warnings: tuple[str, ...] = ()
        self._stuck_since: float | None = None
        self._counters: dict[tuple[Cell, int], np.ndarray] = {}

    def ticks(self, count: int) -> Iterator[Snapshot]:
        """The next snapshots."""
        for _ in range(count):
            self._advance()
            self.time += self.tick_seconds
            yield self.snapshot()

    def restart(self, comm: str) -> None:
        """The job starts again: another communicator id, counters at zero."""
        self.comm = comm
        self._counters.clear()

    def reset_counters(self, rank: int) -> None:
        """One process's counters start at zero again."""
        for (_, of), counter in self._counters.items():
            if of == rank:
                counter[:] = 0

    def _advance(self) -> None:
        if self.stuck is not None:
            if self._stuck_since is None:
                self._stuck_since = self.time
                for rank in set(range(self.nranks)) - {self.stuck}:
                    self._counter(self.cells[0], rank)[3] += 1
            return
        if self._stuck_since is not None:
            self._counter(self.cells[0], self.released)[3] += 1
            self._stuck_since = None
        if self.paused:
            return
        steps = max(1, int(self.tick_seconds / (self.step_seconds + self.delay_seconds.max())))
        for number, cell in enumerate(self.cells):
            jitter = self.jitter_seconds if cell.jitter_seconds is None else cell.jitter_seconds
            arrival = np.abs(self.random.normal(0, jitter, (steps, self.nranks)))
            arrival += self.late_everywhere
            if number == 0:
                arrival += self.delay_seconds
            transfer = (
                cell.transfer_seconds * self.transfer_ratio * (1 + 0.05 * np.abs(self.random.normal(0, 1, (steps, 1))))
            )
            duration = arrival.max(axis=1, keepdims=True) - arrival + transfer
            duration = duration[: round(steps * self.timed_ratio)]
            for rank in range(self.nranks):
                self._counter(cell, rank)[:] += [
                    len(duration),
                    duration[:, rank].sum(),
                    np.log(np.maximum(1.0, duration[:, rank] * 1e6)).sum(),
                    steps,
                ]

    def _counter(self, cell: Cell, rank: int) -> np.ndarray:
        return self._counters.setdefault((cell, rank), np.zeros(4))

    def release(self) -> None:
        """The stuck rank goes on."""
        assert self.stuck is not None
        self.released, self.stuck = self.stuck, None

    def snapshot(self) -> Snapshot:
        """What the store knows now."""
        code = self.vocabulary.code
        comm, ring, simple = code(self.comm), code("RING"), code("SIMPLE")
        heard = [rank for rank in range(self.nranks) if rank not in self.silent]
        cells = [
            (comm, rank, code(cell.op), code(cell.size), ring, simple, *counter[:3])
            for (cell, rank), counter in self._counters.items()
            if rank in heard
        ]
        started: dict[tuple[int, int], float] = {}
        for (cell, rank), counter in self._counters.items():
            if rank in heard:
                started[rank, code(cell.op)] = started.get((rank, code(cell.op)), 0.0) + counter[3]
        age = 0.0 if self._stuck_since is None or self.timed_ratio < 1 else self.time - self._stuck_since
        return Snapshot(
            time=self.time,
            vocabulary=self.vocabulary,
            communicators=CommunicatorTable(
                *_codes(
                    [
                        (
                            comm,
                            rank,
                            rank,
                            self.nranks,
                            max(1, self.nranks // 4),
                            code(self.comm_name),
                            code(f"node{rank // 4}"),
                            code(str(rank % 4)),
                            code(f"GPU-{rank}"),
                            code(self.job_id),
                        )
                        for rank in heard
                    ],
                    10,
                )
            ),
            cells=CellTable(*_codes([row[:6] for row in cells], 6), *_floats([row[6:] for row in cells], 3)),
            started=StartedTable(
                *_codes([(comm, rank, op) for rank, op in started], 3), np.array(list(started.values()), dtype=float)
            ),
            in_flight=InFlightTable(
                *_codes([(comm, rank) for rank in heard], 2),
                np.array([0.0 if rank == self.stuck else age for rank in heard]),
            ),
            sampled_at=np.full(len(heard), self.time if self.scraped_at is None else self.scraped_at),
            quality=DataQuality(warnings=self.warnings),
        )


def _codes(rows: list[tuple[int, ...]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(-1, width).T


def _floats(rows: list[tuple[float, ...]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, width).T
