"""What one training process counted, after every field has been checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nccl_exporter.layout import REFUSED, OperationKind

__all__ = ["Communicator", "Key", "Operation", "Process", "Series"]

# The labels that tell the series of one communicator's table apart, in the catalogue's order.
Key = tuple[str, ...]


class Operation(NamedTuple):
    """One kind of operation in one communicator.

    started = operations + skipped + refused + dropped + in_flight, where `operations` were measured and are summed up
    in `duration_ns`, `bytes` and, for collectives, `buckets` (not cumulative). `refused` is in the order of
    layout.REFUSED, `dropped` in that of layout.DROPPED. `is_measured`: sampling has chosen one of them yet.
    """

    name: str
    kind: OperationKind
    started: int
    operations: int
    duration_ns: int
    bytes: int
    buckets: tuple[int, ...]
    skipped: int
    refused: tuple[int, ...]
    dropped: tuple[int, ...]
    in_flight: int
    is_measured: bool


class Series(NamedTuple):
    """Series of one table: their keys, their labels as text, and the values of each, in the table's order."""

    keys: Sequence[Key]
    labels: Sequence[str]
    values: Sequence[Sequence[float]]

    def by_key(self) -> dict[Key, tuple[float, ...]]:
        """The values of each series."""
        return {key: tuple(values) for key, values in zip(self.keys, self.values, strict=True)}


@dataclass(frozen=True, slots=True)
class Communicator:
    """One rank's place in one communicator.

    `nranks` and `nnodes` are 0 and `gpu` is -1 where they are not known. `inflight_ns` is the age of the oldest
    operation in flight, 0 when there is none; `callback_ns` is what all callbacks took together, estimated from those
    that were timed. `is_still`: no operation ended while it was read, so that every operation's counts add up.

    Values: `cells` operations, nanoseconds, sum of ln(microseconds); `durations` operations, nanoseconds, buckets;
    `peers` operations, nanoseconds, bytes; `links` operations, bytes, steps by state, nanoseconds by state; `channels`
    operations, nanoseconds.
    """

    id: int
    rank: int
    nranks: int
    nnodes: int
    name: str
    gpu: int
    gpu_uuid: str
    opened_unix_ns: int
    inflight_ns: int
    callbacks: int
    callback_ns: float
    operations: tuple[Operation, ...]
    cells: Series
    durations: Series
    peers: Series
    links: Series
    channels: Series
    is_still: bool

    @property
    def skipped(self) -> int:
        """Operations that sampling left out."""
        return sum(row.skipped for row in self.operations)

    @property
    def refused(self) -> tuple[int, ...]:
        """Operations whose times were not trusted, in the order of layout.REFUSED."""
        return tuple(sum(row.refused[place] for row in self.operations) for place in range(len(REFUSED)))

    @property
    def started(self) -> int:
        """Operations launched."""
        return sum(row.started for row in self.operations)

    @property
    def measured(self) -> int:
        """Operations measured."""
        return sum(row.operations for row in self.operations)


@dataclass(frozen=True, slots=True)
class Process:
    """One training process; `global_rank` is -1 and `nccl_version` 0 where they are not known.

    `dropped` is what its header counts, in the order of layout.DROPPED; `governor_level` how often it has lowered its
    sampling.
    """

    pid: int
    start_monotonic_ns: int
    global_rank: int
    nccl_version: int
    governor_level: int
    hostname: str
    job_id: str
    dropped: tuple[int, ...]
