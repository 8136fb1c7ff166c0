"""Ranks on a ring of links: what their collectives and network steps take in each window, seeded and physical.

In each operation a rank is inside for (last arrival − own arrival) + transfer. A slow link makes the transfer longer
for everybody; a slow fabric makes all of them longer, and every network step with them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sentinel.measure.labels import Labels
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import Communicator, Member, Membership, Role
from sentinel.measure.traffic import Traffic
from sentinel.measure.window import Progress, Window
from sentinel.model.snapshot import NetworkTable, PeerTable
from sentinel.model.vocabulary import Vocabulary

TICK_SECONDS = 2.0
Noise = Callable[[np.random.Generator, int], Iterator[np.ndarray]]


def iid(ratio: float) -> Noise:
    """Independent from tick to tick."""

    def values(random: np.random.Generator, count: int) -> Iterator[np.ndarray]:
        while True:
            yield 1.0 + ratio * random.standard_normal(count)

    return values


def ar1(ratio: float, rho: float) -> Noise:
    """A tick remembers the one before."""

    def values(random: np.random.Generator, count: int) -> Iterator[np.ndarray]:
        now = ratio * random.standard_normal(count)
        while True:
            yield 1.0 + now
            now = rho * now + ratio * np.sqrt(1 - rho**2) * random.standard_normal(count)

    return values


def log_normal(sigma: float) -> Noise:
    """Skewed."""

    def values(random: np.random.Generator, count: int) -> Iterator[np.ndarray]:
        while True:
            yield random.lognormal(0.0, sigma, count)

    return values


@dataclass(frozen=True)
class Tick:
    """One window."""

    window: Window
    traffic: Traffic
    lateness: Lateness


@dataclass
class Ring:
    """A job of one communicator. Change its fields between ticks to break it.

    `cells` are (op, size, transfer seconds, operations a tick); `arrival_seconds` is what arrivals scatter by.
    """

    nranks: int = 8
    comm: str = "00000000000000aa"
    cells: tuple[tuple[str, str, float, int], ...] = (
        ("AllReduce", "1048576", 0.01, 50),
        ("AllGather", "65536", 0.004, 50),
    )
    noise: Noise = field(default_factory=lambda: iid(0.03))
    arrival_seconds: float = 0.0005
    step_seconds: float = 100e-6
    flush_seconds: float = 10e-6
    has_network: bool = True
    timed_ratio: float = 1.0
    seed: int = 1
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    gpus_per_node: int = 2

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.time = 1_000_000.0
        self.fabric = 1.0
        self.message_ratio = 1.0  # of the network's steps: larger messages
        self.delay_seconds = np.zeros(self.nranks)
        self.wire = np.ones(self.nranks)  # of what a rank sends
        self.flush = np.ones(self.nranks)  # of what it receives
        self.links = range(self.nranks)  # ranks with a link out of their node
        self._own = [self.noise(self.random, self.nranks) for _ in range(3)]
        self._common = self.noise(self.random, len(self.cells) + 1)
        self.code = self.vocabulary.code(self.comm)

    @property
    def membership(self) -> Membership:
        members = {
            rank: Member(rank, rank, f"node{rank // self.gpus_per_node}", str(rank % self.gpus_per_node), f"GPU-{rank}")
            for rank in range(self.nranks)
        }
        role = Role("job", "", self.nranks, self.nranks // self.gpus_per_node, f"0-{self.nranks - 1}")
        return Membership({self.code: Communicator(self.code, self.comm, "job", role, members)})

    @property
    def states(self) -> dict[int, str]:
        return {self.code: "watching"}

    def ticks(self, count: int) -> Iterator[Tick]:
        for _ in range(count):
            window = self._window()
            network = self._network() if self.has_network else NetworkTable.empty()
            self.time += TICK_SECONDS
            lateness = measure_lateness(window, self.vocabulary, 5)
            yield Tick(window, Traffic(PeerTable.empty(), network), lateness)

    def _window(self) -> Window:
        code, n, parts, launched = self.vocabulary.code, self.nranks, [], []
        common = next(self._common)
        slowest = max(self.wire.max(), 1.0 + 0.1 * (self.flush.max() - 1.0))
        late = self.arrival_seconds * np.abs(next(self._own[0]))
        for number, (op, size, seconds, operations) in enumerate(self.cells):
            timed = max(1, round(operations * self.timed_ratio))
            arrival = np.abs(self.random.normal(0, self.arrival_seconds, (timed, n)))
            arrival += late + (self.delay_seconds if number == 0 else 0.0)
            transfer = seconds * self.fabric * slowest * max(0.2, common[number])
            duration = arrival.max(axis=1, keepdims=True) - arrival + transfer
            parts.append((op, size, timed, duration.sum(axis=0), np.log(np.maximum(1.0, duration * 1e6)).sum(axis=0)))
            launched.append((op, operations))
        ranks = np.arange(n, dtype=np.int32)
        of = [np.full(n, self.code, dtype=np.int32)] * len(parts)
        return Window(
            start=self.time,
            end=self.time + TICK_SECONDS,
            labels=Labels(
                comm=np.concatenate(of),
                rank=np.tile(ranks, len(parts)),
                op=np.repeat([code(part[0]) for part in parts], n).astype(np.int32),
                size=np.repeat([code(part[1]) for part in parts], n).astype(np.int32),
                algo=np.full(n * len(parts), code("RING"), dtype=np.int32),
                proto=np.full(n * len(parts), code("SIMPLE"), dtype=np.int32),
            ),
            operations=np.repeat([float(part[2]) for part in parts], n),
            seconds=np.concatenate([part[3] for part in parts]),
            log_microseconds=np.concatenate([part[4] for part in parts]),
            progress=Progress(
                labels=Labels(
                    comm=np.concatenate(of),
                    rank=np.tile(ranks, len(parts)),
                    op=np.repeat([code(op) for op, _ in launched], n).astype(np.int32),
                ),
                launched=np.repeat([float(count) for _, count in launched], n),
                total=np.repeat([float(count) for _, count in launched], n),
            ),
            resets=0,
        )

    def _network(self) -> NetworkTable:
        code, links = self.vocabulary.code, np.array(self.links, dtype=np.int32)
        count = len(links)
        steps = 1000.0 * self.timed_ratio
        size = self.message_ratio * self.fabric * max(0.2, next(self._common)[-1])
        wire = self.step_seconds * size * self.wire[links] * np.maximum(0.1, next(self._own[1])[links])
        flush = self.flush_seconds * self.flush[links] * np.maximum(0.1, next(self._own[2])[links])
        waits = 2.0 * max(wire.max(), flush.max()) - wire, 3.0 * max(wire.max(), flush.max()) - flush
        rows = [
            ("send", "wire", 1, wire),
            ("send", "gpu_wait", 1, waits[0]),
            ("recv", "flush", -1, flush),
            ("recv", "wire", -1, waits[1]),
        ]
        return NetworkTable(
            comm=np.full(4 * count, self.code, dtype=np.int32),
            rank=np.tile(links, 4),
            peer=np.concatenate([(links + step) % self.nranks for _, _, step, _ in rows]).astype(np.int32),
            direction=np.repeat([code(row[0]) for row in rows], count).astype(np.int32),
            state=np.repeat([code(row[1]) for row in rows], count).astype(np.int32),
            steps=np.full(4 * count, steps),
            seconds=np.concatenate([steps * row[3] for row in rows]),
        )
