"""Writes the text that Prometheus reads, family by family in the order of the catalogue.

prometheus-client builds an object for each sample: 25 ms for a node of 8 processes with 4 communicators of 16 cells.
Here a series costs one %-format of a template that its family in the catalogue gives.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from nccl_exporter import catalogue, layout
from nccl_exporter.catalogue import CATALOGUE, Family
from nccl_exporter.model import Communicator, Process

_NS: Final = 1e9
_CELL: Final = catalogue.OPERATIONS.template
_OPERATION: Final = catalogue.STARTED.template
_RANK: Final = catalogue.INFLIGHT.template
_BUCKETS: Final = tuple(f',le="{bound}"}} ' for bound in [*(ns / _NS for ns in layout.BUCKET_BOUNDS_NS), "+Inf"])
# Series of one rank in one communicator that do not depend on its operations and cells.
_FIXED_SERIES: Final = 1 + 1 + len(layout.REFUSED) + 1 + 2 + 1
_SERIES_PER_OPERATION: Final = 2 + layout.BUCKETS + 2
_SERIES_PER_CELL: Final = 3


def series(communicator: Communicator) -> int:
    """How many series the page spends on it, at most."""
    return (
        _FIXED_SERIES
        + _SERIES_PER_OPERATION * len(communicator.operations)
        + _SERIES_PER_CELL * len(communicator.cells)
    )


def nccl_version(code: int) -> str:
    """22809 is 2.28.9, as ncclGetVersion counts since 2.9; 0 is not known."""
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}" if code else ""


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
        self._add_cells(communicator, comm)

    def _add_rank(self, process: Process, communicator: Communicator, comm: str, global_rank: int) -> None:
        info = (
            comm,
            communicator.rank,
            global_rank,
            communicator.name,
            communicator.nranks,
            communicator.nnodes,
            process.hostname,
            process.gpu if process.gpu >= 0 else "",
            process.gpu_uuid,
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
        started = sum(row.started for row in communicator.operations)
        if started:
            measured = sum(row.operations for row in communicator.operations)
            self.add(catalogue.SAMPLING_RATIO, rank, min(1.0, measured / started))

    def _add_operations(self, communicator: Communicator, comm: str) -> None:
        started, size, duration = (
            self._lines[family.name] for family in (catalogue.STARTED, catalogue.BYTES, catalogue.DURATION)
        )
        for row in communicator.operations:
            labels = _OPERATION % (comm, communicator.rank, row.name)
            started.append(f"{catalogue.STARTED.name}{{{labels}}} {row.started}\n")
            size.append(f"{catalogue.BYTES.name}{{{labels}}} {row.bytes}\n")
            bucket = f"{catalogue.DURATION.name}_bucket{{{labels}"
            count = 0
            for bound, count in zip(_BUCKETS, accumulate(row.buckets), strict=True):
                duration.append(f"{bucket}{bound}{count}\n")
            duration.append(f"{catalogue.DURATION.name}_sum{{{labels}}} {row.duration_ns / _NS}\n")
            duration.append(f"{catalogue.DURATION.name}_count{{{labels}}} {count}\n")

    def _add_cells(self, communicator: Communicator, comm: str) -> None:
        operations, seconds, logs = (
            self._lines[family.name] for family in (catalogue.OPERATIONS, catalogue.SECONDS, catalogue.LOG_MICROSECONDS)
        )
        for row in communicator.cells:
            labels = _CELL % (comm, communicator.rank, row.operation, row.size, row.algorithm, row.protocol)
            operations.append(f"{catalogue.OPERATIONS.name}{{{labels}}} {row.operations}\n")
            seconds.append(f"{catalogue.SECONDS.name}{{{labels}}} {row.duration_ns / _NS}\n")
            logs.append(f"{catalogue.LOG_MICROSECONDS.name}{{{labels}}} {row.log_microseconds}\n")

    def text(self) -> str:
        """The page; families without a sample are left out."""
        parts: list[str] = []
        for family in CATALOGUE:
            if lines := self._lines[family.name]:
                parts.append(family.head)
                parts += lines
        return "".join(parts)
