"""Writes the text that Prometheus reads, family by family in the order of the catalogue.

prometheus-client builds an object for each sample: with it a scrape takes half as long again (`make bench-scrape`).
Here the labels of a series are written once in its life, and a scrape adds the numbers.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from nccl_exporter import catalogue, layout
from nccl_exporter.catalogue import CATALOGUE, Family
from nccl_exporter.layout import OperationKind
from nccl_exporter.model import Communicator, Operation, Process, Series
from nccl_exporter.ras.status import RasStatus

_NS: Final = 1e9
_OPERATION: Final = catalogue.STARTED.template
_BUCKETS: Final = tuple(f',le="{bound}"}} ' for bound in [*(ns / _NS for ns in layout.BUCKET_BOUNDS_NS), "+Inf"])
_TABLES: Final = catalogue.SERIES_BY_TABLE
_STATES: Final = {
    direction: tuple(f',state="{state}"}} ' for state in states)
    for direction, states in catalogue.NETWORK_STATES.items()
}


def series(communicator: Communicator) -> int:
    """How many series the page spends on it, at most."""
    return (
        catalogue.RANK_SERIES
        + sum((row.started > 0) + _has_bytes(row) for row in communicator.operations)
        + _TABLES["cells"] * len(communicator.cells.keys)
        + _TABLES["durations"] * len(communicator.durations.keys)
        + _TABLES["peers"] * len(communicator.peers.keys)
        + _TABLES["links"] * len(communicator.links.keys)
        + _TABLES["channels"] * len(communicator.channels.keys)
    )


def nccl_version(code: int) -> str:
    """22809 is 2.28.9, as ncclGetVersion counts since 2.9; 0 is not known."""
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}" if code else ""


def _has_bytes(row: Operation) -> bool:
    return row.is_measured and row.kind is not OperationKind.POINT_TO_POINT


class Page:
    """One answer to one scrape."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {family.name: [] for family in CATALOGUE}

    def add(self, family: Family, values: Iterable[object], number: float) -> None:
        """One sample of a counter or a gauge; `values` in the order of the family's labels."""
        self._lines[family.name].append(family.line(values, number))

    def add_communicator(self, process: Process, communicator: Communicator, global_rank: int) -> None:
        """Every series of one rank in one communicator."""
        comm = f"{communicator.id:016x}"
        self._add_rank(process, communicator, comm, global_rank)
        self._add_operations(communicator, comm)
        self._add_durations(communicator.durations)
        cells, peers, channels = communicator.cells, communicator.peers, communicator.channels
        self._add_counts(catalogue.OPERATIONS, cells, 0)
        self._add_seconds(catalogue.SECONDS, cells, 1)
        for labels, values in zip(cells.labels, cells.values, strict=True):
            self._line(catalogue.LOG_MICROSECONDS, labels, values[2])
        self._add_counts(catalogue.P2P_OPERATIONS, peers, 0)
        self._add_seconds(catalogue.P2P_SECONDS, peers, 1)
        self._add_counts(catalogue.P2P_BYTES, peers, 2)
        self._add_links(communicator.links)
        self._add_counts(catalogue.CHANNEL_OPERATIONS, channels, 0)
        self._add_seconds(catalogue.CHANNEL_SECONDS, channels, 1)

    def add_ras(self, status: RasStatus) -> None:
        """What RAS says of a rank."""
        self.add(catalogue.RAS_STATUS, (f"{status.comm_id:016x}", status.rank, status.status), int(status.value))

    def _add_rank(self, process: Process, communicator: Communicator, comm: str, global_rank: int) -> None:
        info = (
            comm,
            communicator.rank,
            global_rank,
            communicator.name,
            communicator.nranks,
            communicator.nnodes,
            process.hostname,
            communicator.gpu if communicator.gpu >= 0 else "",
            communicator.gpu_uuid,
            process.pid,
            process.job_id,
            nccl_version(process.nccl_version),
        )
        rank = (comm, communicator.rank)
        self.add(catalogue.COMMUNICATOR_INFO, info, 1)
        self.add(catalogue.INFLIGHT, rank, communicator.inflight_ns / _NS)
        for reason, count in zip(layout.REFUSED, communicator.refused, strict=True):
            self.add(catalogue.REFUSED, (*rank, reason), count)
        self.add(catalogue.SKIPPED, rank, communicator.skipped)
        self.add(catalogue.CALLBACK_SECONDS, rank, communicator.callback_ns / _NS)
        self.add(catalogue.CALLBACKS, rank, communicator.callbacks)
        self.add(catalogue.GOVERNOR, rank, process.governor_level)
        if started := communicator.started:
            self.add(catalogue.SAMPLING_RATIO, rank, min(1.0, communicator.measured / started))

    def _add_operations(self, communicator: Communicator, comm: str) -> None:
        for row in communicator.operations:
            labels = _OPERATION % (comm, communicator.rank, row.name)
            if row.kind is OperationKind.POINT_TO_POINT:
                if row.started:
                    self._line(catalogue.P2P_STARTED, labels, row.started)
                continue
            if row.started:
                self._line(catalogue.STARTED, labels, row.started)
            if _has_bytes(row):
                self._line(catalogue.BYTES, labels, row.bytes)

    def _add_durations(self, durations: Series) -> None:
        lines, name = self._lines[catalogue.DURATION.name], catalogue.DURATION.name
        for labels, (_, duration_ns, *buckets) in zip(durations.labels, durations.values, strict=True):
            bucket = f"{name}_bucket{{{labels}"
            count = 0.0
            for bound, count in zip(_BUCKETS, accumulate(buckets), strict=True):
                lines.append(f"{bucket}{bound}{count:.0f}\n")
            lines.append(f"{name}_sum{{{labels}}} {duration_ns / _NS}\n")
            lines.append(f"{name}_count{{{labels}}} {count:.0f}\n")

    def _add_links(self, links: Series) -> None:
        steps, seconds = (self._lines[family.name] for family in (catalogue.NETWORK_STEPS, catalogue.NETWORK_SECONDS))
        self._add_counts(catalogue.NETWORK_BYTES, links, 1)
        for (_, direction), labels, values in zip(*links, strict=True):
            for place, state in enumerate(_STATES[direction], start=2):
                steps.append(f"{catalogue.NETWORK_STEPS.name}{{{labels}{state}{values[place]:.0f}\n")
                ns = values[place + layout.STEP_STATES]
                seconds.append(f"{catalogue.NETWORK_SECONDS.name}{{{labels}{state}{ns / _NS}\n")

    def _add_counts(self, family: Family, rows: Series, column: int) -> None:
        head, lines = f"{family.name}{{", self._lines[family.name]
        lines += [f"{head}{labels}}} {row[column]:.0f}\n" for labels, row in zip(rows.labels, rows.values, strict=True)]

    def _add_seconds(self, family: Family, rows: Series, column: int) -> None:
        head, lines = f"{family.name}{{", self._lines[family.name]
        lines += [
            f"{head}{labels}}} {row[column] / _NS}\n" for labels, row in zip(rows.labels, rows.values, strict=True)
        ]

    def _line(self, family: Family, labels: str, number: float) -> None:
        self._lines[family.name].append(f"{family.name}{{{labels}}} {number}\n")

    def text(self) -> str:
        """The page; families without a sample are left out."""
        parts: list[str] = []
        for family in CATALOGUE:
            if lines := self._lines[family.name]:
                parts.append(family.head)
                parts += lines
        return "".join(parts)
