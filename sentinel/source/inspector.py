"""NVIDIA Inspector's metrics, as node_exporter shows them to Prometheus, as a source of snapshots.

They are window means by GPU, without ranks, counts, peers or network steps: what cannot be told is told in
`DataQuality.notes`, and the verdicts that need it are off (`sentinel.config.dialect`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.snapshot import (
    CellTable,
    CommunicatorTable,
    DataQuality,
    InFlightTable,
    Snapshot,
    StartedTable,
)
from sentinel.model.vocabulary import Codes, Vocabulary
from sentinel.source import inspector_query
from sentinel.source.inspector_counters import Counters, InspectorCounters, Reading
from sentinel.source.inspector_labels import algorithm_and_protocol, gpu_number, lower_bound_bytes, named
from sentinel.source.inspector_roster import Group, GroupKey, Place, Roster
from sentinel.source.prometheus_chunks import read_in_chunks
from sentinel.source.prometheus_grid import Axis, Grid
from sentinel.source.prometheus_reader import PrometheusReader
from sentinel.source.prometheus_session import Observe

__all__ = ["STALE_SECONDS", "InspectorMemory", "InspectorSource"]

STALE_SECONDS = 900.0
"""A file stays when its process has ended: a GPU that has said nothing new for so long is gone."""

_Cell = tuple[GroupKey, Place, tuple[int, int, int, int]]
"""Of a series: whose it is, where, and op, size, algorithm and protocol as codes."""


@dataclass(frozen=True)
class InspectorMemory:
    """What a source knows after a snapshot at `time` (Unix seconds), and the store does not say again."""

    vocabulary: Vocabulary
    roster: Roster
    counters: InspectorCounters
    time: float


class InspectorSource:
    """A `Source`. Counters begin with its first snapshot; one that is earlier than the last begins anew.

    So snapshots differ by the same whether they are read one by one or as a range, as long as time advances.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        observe: Observe | None = None,
        memory: "InspectorMemory | None" = None,
    ) -> None:
        """`memory` is what another one had."""
        self._selector = settings.selector
        self._vocabulary = memory.vocabulary if memory else Vocabulary()
        self._reader = PrometheusReader(settings, self._vocabulary, observe)
        self._known: dict[tuple[int, ...], _Cell | None] = {}
        self._begin()
        if memory:
            self._roster, self._counters, self._time = memory.roster, memory.counters, memory.time

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._reader.close()

    @property
    def memory(self) -> "InspectorMemory":
        """What it knows by now."""
        return InspectorMemory(self._vocabulary, self._roster, self._counters, self._time)

    def snapshot(self, at: float) -> Snapshot:
        """What Prometheus knew at the Unix time `at`, which is rounded to its milliseconds."""
        axis = Axis(start=round(at * 1000), step=1, count=1, instant=True)
        return self._snapshot(axis, 0, *self._read(axis))

    def snapshots(self, start: float, end: float, step: float) -> Iterator[Snapshot]:
        """Range queries over as many instants at a time as memory and the server allow."""
        self._reader.forget_series()
        for axis, (collectives, point_to_point) in read_in_chunks(start, end, step, self._read):
            for column in range(axis.count):
                yield self._snapshot(axis, column, collectives, point_to_point)

    def _read(self, axis: Axis) -> tuple[Grid, Grid]:
        return (
            self._reader.read(
                inspector_query.collectives(self._selector),
                inspector_query.COLLECTIVE_LABELS,
                axis,
                inspector_query.COLLECTIVE_METRICS,
            ),
            self._reader.read(
                inspector_query.point_to_point(self._selector), inspector_query.POINT_TO_POINT_LABELS, axis
            ),
        )

    def _begin(self) -> None:
        self._roster, self._counters, self._time = Roster(), InspectorCounters(), -math.inf

    def _snapshot(self, axis: Axis, column: int, collectives: Grid, point_to_point: Grid) -> Snapshot:
        time = (axis.start + axis.step * column) / 1000
        if time <= self._time:
            self._begin()
        self._time = time
        keys, (microseconds, bandwidth) = collectives.at(column)
        series = list(map(tuple, keys.tolist()))
        cells = [self._cell(each) for each in series]
        sound = [n for n, cell in enumerate(cells) if cell is not None and microseconds[n] > 0]
        mine = [cell for n in sound if (cell := cells[n]) is not None]
        readings = [
            Reading(series[n], self._roster.comm(key), cell, float(microseconds[n]), float(bandwidth[n]))
            for n, (key, _, cell) in zip(sound, mine, strict=True)
        ]
        counters = self._counters.step(time, readings)
        live = _live(time, mine, counters)
        groups = self._roster.call(live)
        malformed = int(collectives.malformed[column] + point_to_point.malformed[column]) + len(series) - len(sound)
        quality = DataQuality(
            warnings=tuple(dict.fromkeys((*collectives.warnings, *point_to_point.warnings))),
            malformed_series=malformed,
            counted=False,
            notes=(*_mixed_note(groups), *self._pipeline_note(point_to_point, column)),
        )
        known = {key: group for key, group in groups.items() if group.is_one_communicator}
        return self._tables(time, mine, counters, live, known, quality)

    def _cell(self, key: tuple[int, ...]) -> _Cell | None:
        """What a series' labels say; None where they cannot be Inspector's. Each is read once."""
        if key in self._known:
            return self._known[key]
        job_id, comm_name, nranks, n_nodes, node, gpu, op, message_size, algo_proto = key
        text = self._vocabulary.text
        size, nnodes = lower_bound_bytes(text(message_size)), text(n_nodes)
        found: _Cell | None = None
        if size is not None and nranks > 0 and text(op) and nnodes.isdecimal() and len(nnodes) < 10:
            code, (algo, proto) = self._vocabulary.code, algorithm_and_protocol(text(algo_proto))
            where = named(text(node))
            group = GroupKey(
                job_id=named(text(job_id)),
                comm_name=named(text(comm_name)),
                nranks=nranks,
                nnodes=int(nnodes),
                node=where if nnodes == "1" else "",
            )
            found = group, (where, gpu_number(text(gpu))), (op, code(str(size)), code(algo), code(proto))
        self._known[key] = found
        return found

    def _tables(
        self,
        time: float,
        cells: list[_Cell],
        counters: list[Counters],
        live: dict[tuple[GroupKey, Place], float],
        groups: dict[GroupKey, Group],
        quality: DataQuality,
    ) -> Snapshot:
        code = self._vocabulary.code
        who, sampled_at, labels, values, started = [], [], [], [], dict[tuple[int, int, int], float]()
        for (key, place), changed_at in live.items():
            if (group := groups.get(key)) is None:
                continue
            names = [code(text) for text in (key.comm_name, *place, "", key.job_id)]
            number = group.numbers[place]
            who.append((code(group.comm), number, self._roster.place_rank(place), key.nranks, key.nnodes, *names))
            sampled_at.append(changed_at)
        for (key, place, cell), counter in zip(cells, counters, strict=True):
            group = groups.get(key)
            if group is None or (key, place) not in live:
                continue
            member = (code(group.comm), group.numbers[place])
            labels.append((*member, *cell))
            values.append((counter.operations, counter.seconds, counter.log_microseconds))
            series = (*member, cell[0])
            started[series] = started.get(series, 0.0) + counter.operations
        operations, seconds, log_microseconds = np.array(values, dtype=np.float64).reshape(-1, 3).T
        comm, rank, op, size, algo, proto = _columns(labels, 6)
        launching: tuple[Codes, Codes, Codes] = tuple(_columns(list(started), 3))
        nobody = np.empty(0, dtype=np.int32)
        return Snapshot(
            time=time,
            vocabulary=self._vocabulary,
            communicators=CommunicatorTable(*_columns(who, 10)),
            cells=CellTable(comm, rank, op, size, algo, proto, operations, seconds, log_microseconds),
            started=StartedTable(*launching, np.array(list(started.values()), dtype=np.float64)),
            in_flight=InFlightTable(nobody, nobody, np.empty(0)),
            sampled_at=np.array(sampled_at, dtype=np.float64),
            quality=quality,
        )

    def _pipeline_note(self, point_to_point: Grid, column: int) -> tuple[str, ...]:
        keys, _ = point_to_point.at(column)
        jobs = sorted(named(self._vocabulary.text(code)) or "without an id" for code in keys[:, 0].tolist())
        if not jobs:
            return ()
        return (f"jobs that send and receive, in which who is late may have waited for another: {_listed(jobs)}",)


def _live(time: float, cells: list[_Cell], counters: list[Counters]) -> dict[tuple[GroupKey, Place], float]:
    """Who is there, and when each last said something new."""
    said_at: dict[tuple[GroupKey, Place], float] = {}
    for (key, place, _), counter in zip(cells, counters, strict=True):
        said_at[key, place] = max(said_at.get((key, place), 0.0), counter.changed_at)
    return {who: at for who, at in said_at.items() if time - at <= STALE_SECONDS}


def _mixed_note(groups: dict[GroupKey, Group]) -> tuple[str, ...]:
    mixed = [group for group in groups.values() if not group.is_one_communicator]
    if not mixed:
        return ()
    names = sorted(
        f"{group.key.comm_name or 'without a name'} of {group.key.nranks} ranks in job {group.key.job_id or '-'}"
        for group in mixed
    )
    return (f"not judged, as communicators of one name and size cannot be told apart: {_listed(names)}",)


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - 5} more" if len(texts) > 5 else ""
    return ", ".join(texts[:5]) + more


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Codes:
    return np.array(rows, dtype=np.int32).reshape(-1, width).T
