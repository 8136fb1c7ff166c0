"""Prometheus, or whatever speaks its query API, as a source of snapshots."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Self

import numpy as np

from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.snapshot import (
    CellTable,
    CommunicatorTable,
    DataQuality,
    ExporterTable,
    InFlightTable,
    NetworkTable,
    PeerTable,
    Snapshot,
    StartedTable,
)
from sentinel.model.vocabulary import Codes, Vocabulary
from sentinel.source import prometheus_query
from sentinel.source.interface import Scope
from sentinel.source.prometheus_chunks import read_in_chunks
from sentinel.source.prometheus_grid import Axis, Grid, Rows
from sentinel.source.prometheus_reader import PrometheusReader
from sentinel.source.prometheus_roll import Roll
from sentinel.source.prometheus_session import Observe

__all__ = ["PrometheusSource"]

_CELL_LABELS = ("comm", "rank", "op", "size", "algo", "proto")
_STARTED_LABELS = ("comm", "rank", "op")
_IN_FLIGHT_LABELS = ("comm", "rank")
_WHO_LABELS = (
    "comm",
    "rank",
    "global_rank",
    "nranks",
    "nnodes",
    "comm_name",
    "node",
    "gpu",
    "gpu_uuid",
    "job_id",
    "instance",
)
_PEER_LABELS = ("comm", "rank", "op", "peer")
_NETWORK_LABELS = ("comm", "rank", "peer", "direction", "state")


@dataclass(frozen=True)
class _Grids:
    communicators: Grid
    cells: Grid
    started: Grid
    in_flight: Grid
    peers: Grid
    network: Grid
    exporters: Grid
    samples: Grid | None

    def __iter__(self) -> Iterator[Grid]:
        grids = (getattr(self, each.name) for each in fields(self))
        return (grid for grid in grids if grid is not None)


class PrometheusSource:
    """A `Source`. Eight queries a snapshot, or a chunk of a range, or four; both go through the same code."""

    def __init__(
        self,
        settings: PrometheusSettings,
        observe: Observe | None = None,
        scope: Scope = Scope.ALL,
        memory: Vocabulary | None = None,
    ) -> None:
        """`memory` is what another one had."""
        self._settings, self._scope = settings, scope
        self.memory = Vocabulary() if memory is None else memory
        self._reader = PrometheusReader(settings, self.memory, observe)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._reader.close()

    def snapshot(self, at: float) -> Snapshot:
        """What Prometheus knew at the Unix time `at`, which is rounded to its milliseconds."""
        axis = Axis(start=round(at * 1000), step=1, count=1, instant=True)
        return self._snapshot(self._grids(axis), axis, 0)

    def snapshots(self, start: float, end: float, step: float) -> Iterator[Snapshot]:
        """Range queries over as many instants at a time as memory and the server allow."""
        self._reader.forget_series()
        for axis, grids in read_in_chunks(start, end, step, self._grids):
            for column in range(axis.count):
                yield self._snapshot(grids, axis, column)

    def _grids(self, axis: Axis) -> _Grids:
        selector = self._settings.selector
        measure = self._settings.scrape_interval is None
        read = self._reader.read
        more = read if self._scope is Scope.ALL else _nothing
        if self._settings.recording_rules:
            cells, peers = prometheus_query.recorded_cells, prometheus_query.recorded_peers
        else:
            cells, peers = prometheus_query.cells, prometheus_query.peers
        return _Grids(
            communicators=read(prometheus_query.communicators(selector), _WHO_LABELS, axis),
            cells=read(cells(selector), _CELL_LABELS, axis, prometheus_query.CELL_METRICS),
            started=read(prometheus_query.started(selector), _STARTED_LABELS, axis),
            in_flight=more(prometheus_query.in_flight(selector), _IN_FLIGHT_LABELS, axis),
            peers=more(peers(selector), _PEER_LABELS, axis, prometheus_query.PEER_METRICS),
            network=more(prometheus_query.network(selector), _NETWORK_LABELS, axis, prometheus_query.NETWORK_METRICS),
            exporters=more(prometheus_query.exporters(selector), ("instance",), axis),
            samples=read(prometheus_query.samples(selector), _IN_FLIGHT_LABELS, axis) if measure else None,
        )

    def _snapshot(self, grids: _Grids, axis: Axis, column: int) -> Snapshot:
        time = (axis.start + axis.step * column) / 1000
        interval = self._settings.scrape_interval
        samples = None if grids.samples is None else grids.samples.at(column)
        roll = Roll.call(time, grids.communicators.at(column), samples, interval)
        warnings = tuple(dict.fromkeys(warning for grid in grids for warning in grid.warnings))
        malformed = roll.repeated + sum(int(grid.malformed[column]) for grid in grids)
        return Snapshot(
            time=time,
            vocabulary=self.memory,
            communicators=_communicators(roll.present),
            cells=_cells(roll.without_gone(grids.cells.at(column))),
            started=_started(roll.without_gone(grids.started.at(column))),
            in_flight=_in_flight(roll.without_gone(grids.in_flight.at(column))),
            sampled_at=roll.sampled_at,
            quality=DataQuality(warnings, malformed),
            peers=_peers(roll.without_gone(grids.peers.at(column))),
            network=_network(roll.without_gone(grids.network.at(column))),
            exporters=_exporters(grids.exporters.at(column)),
            instance=roll.present[:, -1],
        )


def _nothing(query: str, labels: tuple[str, ...], axis: Axis, metrics: tuple[str, ...] = ("",)) -> Grid:  # noqa: ARG001
    """As `PrometheusReader.read` where there is no series."""
    keys, values = np.empty((0, len(labels)), dtype=np.int32), np.empty((0, axis.count))
    return Grid(keys, (values,) * len(metrics), np.zeros(axis.count, dtype=np.int64), ())


def _communicators(keys: Codes) -> CommunicatorTable:
    comm, rank, global_rank, nranks, nnodes, comm_name, node, gpu, gpu_uuid, job_id, _ = keys.T
    return CommunicatorTable(comm, rank, global_rank, nranks, nnodes, comm_name, node, gpu, gpu_uuid, job_id)


def _cells(rows: Rows) -> CellTable:
    keys, (operations, seconds, log_microseconds) = rows
    comm, rank, op, size, algo, proto = keys.T
    return CellTable(comm, rank, op, size, algo, proto, operations, seconds, log_microseconds)


def _started(rows: Rows) -> StartedTable:
    keys, (started,) = rows
    comm, rank, op = keys.T
    return StartedTable(comm, rank, op, started)


def _in_flight(rows: Rows) -> InFlightTable:
    keys, (oldest,) = rows
    comm, rank = keys.T
    return InFlightTable(comm, rank, oldest)


def _peers(rows: Rows) -> PeerTable:
    keys, (operations, seconds) = rows
    comm, rank, op, peer = keys.T
    return PeerTable(comm, rank, op, peer, operations, seconds)


def _network(rows: Rows) -> NetworkTable:
    keys, (steps, seconds) = rows
    comm, rank, peer, direction, state = keys.T
    return NetworkTable(comm, rank, peer, direction, state, steps, seconds)


def _exporters(rows: Rows) -> ExporterTable:
    keys, (sampled_at,) = rows
    return ExporterTable(keys[:, 0], sampled_at)
