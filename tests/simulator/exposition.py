"""Snapshots as the exporters would have written them, scrape by scrape: history for a real Prometheus."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from nccl_exporter import catalogue
from nccl_exporter.catalogue import Family
from simulator.ring import STEP_BYTES

from sentinel.model.snapshot import Snapshot

_FAMILIES = (
    catalogue.COMMUNICATOR_INFO,
    catalogue.OPERATIONS,
    catalogue.SECONDS,
    catalogue.LOG_MICROSECONDS,
    catalogue.BYTES,
    catalogue.STARTED,
    catalogue.P2P_OPERATIONS,
    catalogue.P2P_SECONDS,
    catalogue.P2P_BYTES,
    catalogue.P2P_STARTED,
    catalogue.INFLIGHT,
    catalogue.NETWORK_SECONDS,
    catalogue.NETWORK_STEPS,
    catalogue.NETWORK_BYTES,
    catalogue.SKIPPED,
    catalogue.BUILD_INFO,
)
_P2P = ("Send", "Recv")
_P2P_BYTES = 1 << 23  # a snapshot has all sizes together: they go under the one that pipelines usually send
_PID = 1000
_VERSION = "2.28.9"


class History:
    """Collects samples, one for each series and scrape; `text` is OpenMetrics, as promtool makes blocks from.

    Durations by histogram bucket, kernel channels, RAS and what the plugin costs are left out: nothing here knows them.
    """

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = defaultdict(list)
        self._written: dict[str, float] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Every sample that is newer than what was added before. Python loops over rows: for small jobs."""
        who, text = snapshot.communicators, snapshot.vocabulary.text
        fresh: dict[tuple[int, int], tuple[str, float]] = {}
        latest: dict[str, float] = {}
        for comm, rank, instance, at in zip(
            who.comm.tolist(), who.rank.tolist(), snapshot.instance.tolist(), snapshot.sampled_at.tolist(), strict=True
        ):
            if at > self._written.get(text(instance), -np.inf):
                fresh[comm, rank] = (text(instance), at)
        for instance, at in zip(
            snapshot.vocabulary.texts(snapshot.exporters.instance), snapshot.exporters.sampled_at.tolist(), strict=True
        ):
            if at > self._written.get(instance, -np.inf):
                latest[instance] = at
                self._sample(catalogue.BUILD_INFO, ("0", "2"), 1.0, (instance, at))
        for family, place, values, number in _samples(snapshot):
            if place in fresh:
                self._sample(family, values, number, fresh[place])
        self._written |= latest

    @property
    def text(self) -> str:
        """Everything so far."""
        parts = []
        for family in _FAMILIES:
            if lines := self._lines[family.name]:
                name = family.name.removesuffix("_total") if family.kind == "counter" else family.name
                parts.append(f"# TYPE {name} {family.kind}\n")
                parts += lines
        return "".join(parts) + "# EOF\n"

    def _sample(self, family: Family, values: Iterable[object], number: float, where: tuple[str, float]) -> None:
        instance, at = where
        labels = family.template % tuple(values)
        self._lines[family.name].append(f'{family.name}{{{labels},instance="{instance}"}} {number!r} {at:.3f}\n')


Sample = tuple[Family, tuple[int, int], tuple[object, ...], float]


def _samples(snapshot: Snapshot) -> Iterator[Sample]:
    """Family, (comm, rank) as in the snapshot, the values of the labels, and the number."""
    text = snapshot.vocabulary.text
    who = snapshot.communicators
    for row in range(len(who.rank)):
        values = (
            text(who.comm[row]),
            who.rank[row],
            who.global_rank[row],
            text(who.comm_name[row]),
            who.nranks[row],
            who.nnodes[row],
            text(who.node[row]),
            text(who.gpu[row]),
            text(who.gpu_uuid[row]),
            _PID + int(who.gpu[row]),
            text(who.job_id[row]),
            _VERSION,
        )
        yield catalogue.COMMUNICATOR_INFO, _place(who, row), values, 1.0
    flying = snapshot.in_flight
    for row in range(len(flying.rank)):
        place = _place(flying, row)
        yield catalogue.INFLIGHT, place, (text(place[0]), place[1]), float(flying.oldest_seconds[row])
    yield from _operations(snapshot)
    yield from _network(snapshot)


def _operations(snapshot: Snapshot) -> Iterator[Sample]:
    text = snapshot.vocabulary.text
    measured: dict[tuple[int, int], float] = defaultdict(float)
    launched: dict[tuple[int, int], float] = defaultdict(float)
    volume: dict[tuple[tuple[int, int], str], float] = defaultdict(float)
    cells = snapshot.cells
    for row in range(len(cells.rank)):
        place, op, size = _place(cells, row), text(cells.op[row]), text(cells.size[row])
        values = (text(place[0]), place[1], op, size, text(cells.algo[row]), text(cells.proto[row]))
        yield catalogue.OPERATIONS, place, values, float(cells.operations[row])
        yield catalogue.SECONDS, place, values, float(cells.seconds[row])
        yield catalogue.LOG_MICROSECONDS, place, values, float(cells.log_microseconds[row])
        measured[place] += cells.operations[row]
        volume[place, op] += cells.operations[row] * int(size)
    for (place, op), size_bytes in volume.items():
        yield catalogue.BYTES, place, (text(place[0]), place[1], op), float(size_bytes)
    peers = snapshot.peers
    for row in range(len(peers.rank)):
        place = _place(peers, row)
        peer = (text(place[0]), place[1], text(peers.op[row]), peers.peer[row], _P2P_BYTES)
        yield catalogue.P2P_OPERATIONS, place, peer, float(peers.operations[row])
        yield catalogue.P2P_SECONDS, place, peer, float(peers.seconds[row])
        yield catalogue.P2P_BYTES, place, peer, float(peers.operations[row]) * _P2P_BYTES
        measured[place] += peers.operations[row]
    started = snapshot.started
    for row in range(len(started.rank)):
        place, op = _place(started, row), text(started.op[row])
        family = catalogue.P2P_STARTED if op in _P2P else catalogue.STARTED
        yield family, place, (text(place[0]), place[1], op), float(started.started[row])
        launched[place] += started.started[row]
    for place, count in launched.items():
        yield catalogue.SKIPPED, place, (text(place[0]), place[1]), float(count - measured[place])


def _network(snapshot: Snapshot) -> Iterator[Sample]:
    text, network = snapshot.vocabulary.text, snapshot.network
    for row in range(len(network.rank)):
        place, state = _place(network, row), text(network.state[row])
        link = (text(place[0]), place[1], network.peer[row], text(network.direction[row]))
        yield catalogue.NETWORK_STEPS, place, (*link, state), float(network.steps[row])
        yield catalogue.NETWORK_SECONDS, place, (*link, state), float(network.seconds[row])
        if state == "wire":
            yield catalogue.NETWORK_BYTES, place, link, float(network.steps[row]) * STEP_BYTES


def _place(table: object, row: int) -> tuple[int, int]:
    return int(table.comm[row]), int(table.rank[row])  # type: ignore[attr-defined]
