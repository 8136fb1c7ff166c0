"""A simulated job behind Prometheus' query API: what the daemon asks is answered as a server would, and as fast.

    with ClusterServer(cluster) as url: ...

Only the daemon's own queries at an instant are known; anything else is answered as Prometheus answers a bad query.
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus

import numpy as np
import numpy.typing as npt
import orjson
from simulator.cluster import Cluster
from simulator.query_server import Form, QueryServer, Reply, refusal

from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes, Vocabulary
from sentinel.source import prometheus_query

Labels = tuple[str, ...]

_SAMPLES = 20.0  # of each rank in the time that `samples` counts over
_NUMBERS = frozenset(("rank", "global_rank", "nranks", "nnodes", "peer"))  # all other labels are codes


@dataclass(frozen=True)
class Table:
    """What one query is answered with: labels as columns of shape (n,), and the values of each metric, shape (n,)."""

    labels: Mapping[str, Codes]
    metrics: Mapping[str, npt.NDArray[np.float64]]


def tables(snapshot: Snapshot) -> dict[str, Table]:
    """By query."""
    who, cells, started, flying = snapshot.communicators, snapshot.cells, snapshot.started, snapshot.in_flight
    peers, network, exporters = snapshot.peers, snapshot.network, snapshot.exporters
    place = {"comm": who.comm, "rank": who.rank}
    described = ("global_rank", "nranks", "nnodes", "comm_name", "node", "gpu", "gpu_uuid", "job_id")
    identity = place | {name: getattr(who, name) for name in described} | {"instance": snapshot.instance}
    link = {name: getattr(network, name) for name in ("comm", "rank", "peer", "direction", "state")}
    cell = {name: getattr(cells, name) for name in ("comm", "rank", "op", "size", "algo", "proto")}
    peer = {name: getattr(peers, name) for name in ("comm", "rank", "op", "peer")}
    launched = {name: getattr(started, name) for name in ("comm", "rank", "op")}
    in_flight = {"comm": flying.comm, "rank": flying.rank}
    measured = (cells.operations, cells.seconds, cells.log_microseconds)
    return {
        prometheus_query.communicators(""): Table(identity, {"": snapshot.sampled_at}),
        prometheus_query.cells(""): Table(cell, dict(zip(prometheus_query.CELL_METRICS, measured, strict=True))),
        prometheus_query.started(""): Table(launched, {"": started.started}),
        prometheus_query.in_flight(""): Table(in_flight, {"": flying.oldest_seconds}),
        prometheus_query.peers(""): Table(
            peer, dict(zip(prometheus_query.PEER_METRICS, (peers.operations, peers.seconds), strict=True))
        ),
        prometheus_query.network(""): Table(
            link, dict(zip(prometheus_query.NETWORK_METRICS, (network.steps, network.seconds), strict=True))
        ),
        prometheus_query.exporters(""): Table({"instance": exporters.instance}, {"": exporters.sampled_at}),
        prometheus_query.samples(""): Table(place, {"": np.full(len(who.comm), _SAMPLES)}),
    }


def head(metric: str, labels: Iterable[str], key: tuple[int, ...], vocabulary: Vocabulary) -> bytes:
    """The labels of a series, as the beginning of its JSON object."""
    named = {
        name: str(value) if name in _NUMBERS else vocabulary.text(value)
        for name, value in zip(labels, key, strict=True)
    }
    identity = ({"__name__": metric} if metric else {}) | {name: value for name, value in named.items() if value}
    return b'{"metric":' + orjson.dumps(identity) + b","


def recorded(found: dict[str, Table], vocabulary: Vocabulary) -> dict[str, Table]:
    """The same with what the recording rules add up instead of what they add."""
    cells, peers = found.pop(prometheus_query.cells("")), found.pop(prometheus_query.peers(""))
    sums = _summed(cells, ("comm", "rank", "op"))
    other = np.full(len(sums.labels["comm"]), vocabulary.code("other"), dtype=np.int32)
    return found | {
        prometheus_query.recorded_cells(""): Table({**sums.labels, "size": other}, sums.metrics),
        prometheus_query.recorded_peers(""): peers,
    }


def _summed(table: Table, names: Labels) -> Table:
    keys, group = np.unique(np.array([table.labels[name] for name in names]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    sums = {metric: np.bincount(group, values, keys.shape[1]) for metric, values in table.metrics.items()}
    return Table(dict(zip(names, keys, strict=True)), sums)


class Answers:
    """The bytes that a server gives for each of the daemon's queries. What is said of a series is written once."""

    def __init__(self, *, rules: bool = False, without: Collection[str] = ()) -> None:
        """`rules`: whether it evaluates our recording rules, and the daemon reads those.

        There is no series that a query in `without` asks for.
        """
        self._rules, self._without = rules, frozenset(without)
        self._written: dict[tuple[str, Labels], dict[tuple[int, ...], bytes]] = {}

    def of(self, snapshot: Snapshot) -> dict[str, bytes]:
        """By query."""
        write = _Writer(snapshot, self._written)
        found = tables(snapshot)
        if self._rules:
            found = recorded(found, snapshot.vocabulary)
        return {
            query: write(table.labels, {} if query in self._without else table.metrics)
            for query, table in found.items()
        }


class _Writer:
    def __init__(self, snapshot: Snapshot, written: dict[tuple[str, Labels], dict[tuple[int, ...], bytes]]) -> None:
        self._snapshot = snapshot
        self._written = written
        self._time = b'"value":[%.3f,"' % snapshot.time

    def __call__(self, labels: Mapping[str, Codes], metrics: Mapping[str, npt.NDArray[np.float64]]) -> bytes:
        series = [each for name, values in metrics.items() for each in self._series(name, labels, values)]
        return b'{"status":"success","data":{"resultType":"vector","result":[' + b",".join(series) + b"]}}"

    def _series(self, metric: str, labels: Mapping[str, Codes], values: npt.NDArray[np.float64]) -> Iterator[bytes]:
        known = self._written.setdefault((metric, tuple(labels)), {})
        for key, value in zip(
            zip(*(each.tolist() for each in labels.values()), strict=True), values.tolist(), strict=True
        ):
            text = known.get(key)
            if text is None:
                text = known[key] = head(metric, labels, key, self._snapshot.vocabulary)
            yield b'%s%s%s"]}' % (text, self._time, repr(value).encode())


class ClusterServer(QueryServer):
    """Serves a cluster over HTTP on a loopback port, tick after tick: an instant is asked for again, or is the next."""

    def __init__(self, cluster: Cluster, *, rules: bool = False, without: Collection[str] = ()) -> None:
        self._cluster = cluster
        self._answers = Answers(rules=rules, without=without)
        self._at, self._bodies = cluster.start, dict[str, bytes]()
        self._lock = threading.Lock()
        super().__init__(self.reply)

    def answer(self, query: str, at: float) -> bytes | None:
        """The body for one of the daemon's queries; None for another query, and for a time that is over."""
        with self._lock:
            self._advance(at)
            return self._bodies.get(query) if abs(self._at - at) < 1e-3 else None

    def prepare(self, at: float) -> tuple[int, int]:
        """Write the answers for a Unix time before they are asked for; how many series and bytes they have."""
        with self._lock:
            self._advance(at)
            series = sum(body.count(b'{"metric":') for body in self._bodies.values())
            return series, sum(map(len, self._bodies.values()))

    def _advance(self, at: float) -> None:
        while self._at < at - 1e-3:
            (snapshot,) = self._cluster.snapshots(1)
            self._at, self._bodies = snapshot.time, self._answers.of(snapshot)

    def reply(self, form: Form) -> Reply:
        """Status and body."""
        found = self.answer(form["query"][0], float(form["time"][0])) if "time" in form else None
        if found is None:
            return HTTPStatus.BAD_REQUEST, refusal("bad_data", "not simulated")
        return HTTPStatus.OK, found
