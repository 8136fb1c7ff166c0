"""The bytes that were moved, from Prometheus: read beside the snapshots, when somebody asks for them."""

from collections.abc import Iterator

from sentinel.model.vocabulary import Codes
from sentinel.model.volume import CollectiveBytesTable, PointToPointTable, Volume
from sentinel.source.prometheus_chunks import read_in_chunks
from sentinel.source.prometheus_grid import Axis, Grid
from sentinel.source.prometheus_reader import PrometheusReader

__all__ = ["read_volumes", "volume_queries"]

_COLLECTIVE_LABELS = ("comm", "rank", "op")
_P2P_LABELS = ("comm", "rank", "op", "size")
_P2P_METRICS = ("nccl_p2p_operations_total", "nccl_p2p_seconds_total", "nccl_p2p_bytes_total")


def volume_queries(selector: str) -> tuple[str, str]:
    """PromQL of the collectives' bytes, and of Sends and Recvs. One exporter scraped twice is merged by `max`."""
    own = '__name__=~"nccl_p2p_(operations|seconds|bytes)_total"'
    point_to_point = ",".join(part for part in (own, selector) if part)
    return (
        f"max by (comm, rank, op) (nccl_collective_bytes_total{{{selector}}})",
        "sum by (__name__, comm, rank, op, size) "
        f"(max by (__name__, comm, rank, op, peer, size) ({{{point_to_point}}}))",
    )


def read_volumes(reader: PrometheusReader, selector: str, start: float, end: float, step: float) -> Iterator[Volume]:
    """At start, start + step, … ≤ end (Unix seconds), in order, in codes of the reader's vocabulary. SourceError."""
    collectives, point_to_point = volume_queries(selector)

    def read(axis: Axis) -> tuple[Grid, Grid]:
        return (
            reader.read(collectives, _COLLECTIVE_LABELS, axis),
            reader.read(point_to_point, _P2P_LABELS, axis, _P2P_METRICS),
        )

    for axis, (moved, sent) in read_in_chunks(start, end, step, read):
        for column in range(axis.count):
            yield _volume((axis.start + axis.step * column) / 1000, moved, sent, column)


def _volume(time: float, collectives: Grid, point_to_point: Grid, column: int) -> Volume:
    keys, (size_bytes,) = collectives.at(column)
    comm, rank, op = keys.T
    p2p_keys, (operations, seconds, p2p_bytes) = point_to_point.at(column)
    return Volume(
        time,
        CollectiveBytesTable(comm, rank, op, size_bytes),
        PointToPointTable(*_columns(p2p_keys), operations, seconds, p2p_bytes),
    )


def _columns(keys: Codes) -> tuple[Codes, Codes, Codes, Codes]:
    comm, rank, op, size = keys.T
    return comm, rank, op, size
