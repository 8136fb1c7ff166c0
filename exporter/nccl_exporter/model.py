"""What one training process counted, after every field has been checked."""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Cell", "Communicator", "Operation", "Process"]


class Operation(NamedTuple):
    """One kind of operation in one communicator; `buckets` are not cumulative."""

    name: str
    started: int
    operations: int
    duration_ns: int
    bytes: int
    buckets: tuple[int, ...]


class Cell(NamedTuple):
    """Operations of one kind, size, algorithm and protocol; `log_microseconds` is the sum of ln(duration in us)."""

    operation: str
    size: str
    algorithm: str
    protocol: str
    operations: int
    duration_ns: int
    log_microseconds: float


@dataclass(frozen=True, slots=True)
class Communicator:
    """One rank's place in one communicator.

    `inflight_ns` is the age of the oldest operation in flight, 0 when there is none; `callback_ns` is what all
    callbacks took together, estimated from those that were timed.
    """

    id: int
    rank: int
    nranks: int
    nnodes: int
    name: str
    opened_unix_ns: int
    inflight_ns: int
    refused: tuple[int, ...]
    skipped: int
    callbacks: int
    callback_ns: float
    operations: tuple[Operation, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Process:
    """One training process; `gpu` and `global_rank` are -1 and `nccl_version` is 0 where they are not known."""

    pid: int
    start_monotonic_ns: int
    global_rank: int
    gpu: int
    nccl_version: int
    hostname: str
    job_id: str
    gpu_uuid: str
    dropped: tuple[int, ...]
