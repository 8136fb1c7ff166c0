"""Prometheus, or whatever speaks its query API, as a source of snapshots."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Self

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
from sentinel.source.prometheus_answer import decode
from sentinel.source.prometheus_grid import Axis, Grid, Rows, read_grid
from sentinel.source.prometheus_labels import LabelReader
from sentinel.source.prometheus_roll import Roll
from sentinel.source.prometheus_session import AnswerTooLargeError, Observe, PrometheusSession

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
# A range query's answer is decoded whole: about 200 bytes a sample, so this bounds it to tens of MiB.
_SAMPLES_PER_QUERY = 300_000
_FIRST_INSTANTS = 16  # before the number of series is known
_MAX_INSTANTS = 10_000  # servers refuse more than 11,000 points per series


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
    """A `Source`. Eight queries a snapshot, or a chunk of a range; both go through the same code."""

    def __init__(self, settings: PrometheusSettings, observe: Observe | None = None) -> None:
        self._settings = settings
        self._session = PrometheusSession(settings, observe=observe)
        self._vocabulary = Vocabulary()
        self._reader = LabelReader(self._vocabulary)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def snapshot(self, at: float) -> Snapshot:
        """What Prometheus knew at the Unix time `at`, which is rounded to its milliseconds."""
        axis = Axis(start=round(at * 1000), step=1, count=1, instant=True)
        return self._snapshot(self._grids(axis), axis, 0)

    def snapshots(self, start: float, end: float, step: float) -> Iterator[Snapshot]:
        """Range queries over as many instants at a time as memory and the server allow."""
        first, step_ms = round(start * 1000), round(step * 1000)
        if step_ms <= 0:
            raise ValueError(f"a step of {step} s")
        total = (round(end * 1000) - first) // step_ms + 1
        done, most = 0, _FIRST_INSTANTS
        while done < total:
            axis = Axis(first + done * step_ms, step_ms, min(most, total - done))
            try:
                grids = self._grids(axis)
            except AnswerTooLargeError:
                if axis.count == 1:
                    raise
                most = axis.count // 2
                continue
            for column in range(axis.count):
                yield self._snapshot(grids, axis, column)
            done += axis.count
            series = max(1, *(len(grid.keys) * len(grid.values) for grid in grids))
            most = min(_SAMPLES_PER_QUERY // series, _MAX_INSTANTS, most * 8) or 1

    def _grids(self, axis: Axis) -> _Grids:
        selector = self._settings.selector
        measure = self._settings.scrape_interval is None
        return _Grids(
            communicators=self._grid(prometheus_query.communicators(selector), _WHO_LABELS, axis),
            cells=self._grid(prometheus_query.cells(selector), _CELL_LABELS, axis, prometheus_query.CELL_METRICS),
            started=self._grid(prometheus_query.started(selector), _STARTED_LABELS, axis),
            in_flight=self._grid(prometheus_query.in_flight(selector), _IN_FLIGHT_LABELS, axis),
            peers=self._grid(prometheus_query.peers(selector), _PEER_LABELS, axis, prometheus_query.PEER_METRICS),
            network=self._grid(
                prometheus_query.network(selector), _NETWORK_LABELS, axis, prometheus_query.NETWORK_METRICS
            ),
            exporters=self._grid(prometheus_query.exporters(selector), ("instance",), axis),
            samples=self._grid(prometheus_query.samples(selector), _IN_FLIGHT_LABELS, axis) if measure else None,
        )

    def _grid(self, query: str, labels: tuple[str, ...], axis: Axis, metrics: tuple[str, ...] = ("",)) -> Grid:
        # The server stops by itself when we no longer listen.
        form = {"query": query, "timeout": f"{round(self._settings.timeout.total_seconds() * 1000)}ms"}
        if axis.instant:
            path = "/api/v1/query"
            form["time"] = _seconds(axis.start)
        else:
            path = "/api/v1/query_range"
            form |= {"start": _seconds(axis.start), "end": _seconds(axis.end), "step": _seconds(axis.step)}
        body = self._session.post(path, form)
        answer = decode(body, "vector" if axis.instant else "matrix", f"{self._settings.url}{path}")
        return read_grid(answer, labels, self._reader, axis, metrics)

    def _snapshot(self, grids: _Grids, axis: Axis, column: int) -> Snapshot:
        time = (axis.start + axis.step * column) / 1000
        interval = self._settings.scrape_interval
        samples = None if grids.samples is None else grids.samples.at(column)
        roll = Roll.call(time, grids.communicators.at(column), samples, interval)
        warnings = tuple(dict.fromkeys(warning for grid in grids for warning in grid.warnings))
        malformed = roll.repeated + sum(int(grid.malformed[column]) for grid in grids)
        return Snapshot(
            time=time,
            vocabulary=self._vocabulary,
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


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
