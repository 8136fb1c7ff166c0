"""What Prometheus knew at one instant, as arrays."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = [
    "CellTable",
    "CommunicatorTable",
    "DataQuality",
    "ExporterTable",
    "InFlightTable",
    "NetworkTable",
    "PeerTable",
    "Snapshot",
    "StartedTable",
]

Floats = npt.NDArray[np.float64]

_POINT_TO_POINT = ("Send", "Recv")


@dataclass(frozen=True)
class CellTable:
    """Counters of measured operations; one row per (comm, rank, op, size, algo, proto), no row twice.

    Strings are codes of the snapshot's vocabulary; `rank` is the number itself. All arrays have shape (n,).
    A counter that the store did not have is NaN.
    """

    comm: Codes
    rank: Codes
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    operations: Floats
    seconds: Floats
    log_microseconds: Floats  # sum of ln(max(1, duration in microseconds))


@dataclass(frozen=True)
class StartedTable:
    """Collectives, Sends and Recvs launched, measured or not; one row per (comm, rank, op). Shape (n,)."""

    comm: Codes
    rank: Codes
    op: Codes
    started: Floats


@dataclass(frozen=True)
class PeerTable:
    """Counters of measured Sends and Recvs; one row per (comm, rank, op, peer), all sizes together. Shape (n,).

    `peer` is a rank of the same communicator, -1 where the exporter folded some together.
    """

    comm: Codes
    rank: Codes
    op: Codes
    peer: Codes
    operations: Floats
    seconds: Floats

    @classmethod
    def empty(cls) -> "PeerTable":
        """Nothing known."""
        none = np.empty(0, dtype=np.int32)
        return cls(none, none, none, none, np.empty(0), np.empty(0))


@dataclass(frozen=True)
class NetworkTable:
    """Counters of network steps; one row per (comm, rank, peer, direction, state). Shape (n,).

    `peer` is as in `PeerTable`.
    """

    comm: Codes
    rank: Codes
    peer: Codes
    direction: Codes
    state: Codes
    steps: Floats
    seconds: Floats

    @classmethod
    def empty(cls) -> "NetworkTable":
        """Nothing known."""
        none = np.empty(0, dtype=np.int32)
        return cls(none, none, none, none, none, np.empty(0), np.empty(0))


@dataclass(frozen=True)
class ExporterTable:
    """Exporters that answer, by the address they are scraped at. Shape (n,).

    `sampled_at` is when the newest sample was taken, Unix seconds.
    """

    instance: Codes
    sampled_at: Floats

    @classmethod
    def empty(cls) -> "ExporterTable":
        """Nothing known."""
        return cls(np.empty(0, dtype=np.int32), np.empty(0))


@dataclass(frozen=True)
class InFlightTable:
    """Age in seconds of the oldest operation in flight, 0 when there is none; one row per (comm, rank). Shape (n,)."""

    comm: Codes
    rank: Codes
    oldest_seconds: Floats


@dataclass(frozen=True)
class CommunicatorTable:
    """Who each rank is, from `nccl_communicator_info`; one row per (comm, rank). Shape (n,).

    `global_rank`, `nranks` and `nnodes` are numbers (-1 where the label was not one); the rest are codes.
    """

    comm: Codes
    rank: Codes
    global_rank: Codes
    nranks: Codes
    nnodes: Codes
    comm_name: Codes
    node: Codes
    gpu: Codes
    gpu_uuid: Codes
    job_id: Codes


@dataclass(frozen=True)
class DataQuality:
    """What is known to be wrong with a snapshot. Nothing here ever resolves an alert."""

    warnings: tuple[str, ...] = ()  # as the server gave them: the answer may be partial
    malformed_series: int = 0  # series left out, because a label or a value was not what the contract says
    notes: tuple[str, ...] = ()  # what is left out although nothing is wrong with it, and why: for people
    counted: bool = True  # whether there are ranks and counts; else numbers stand in their place

    @property
    def partial(self) -> bool:
        """Whether the server said that the answer may not be whole."""
        return bool(self.warnings)


@dataclass(frozen=True)
class Snapshot:
    """Every series that the detectors read, as of `time` (Unix seconds).

    `sampled_at` is when the newest sample of each row of `communicators` was taken, Unix seconds: what a rank has not
    said since then is not known. `instance` is the exporter that each of them comes from; empty where nobody tells.
    """

    time: float
    vocabulary: Vocabulary
    communicators: CommunicatorTable
    cells: CellTable
    started: StartedTable
    in_flight: InFlightTable
    sampled_at: Floats
    quality: DataQuality = field(default_factory=DataQuality)
    peers: PeerTable = field(default_factory=PeerTable.empty)
    network: NetworkTable = field(default_factory=NetworkTable.empty)
    exporters: ExporterTable = field(default_factory=ExporterTable.empty)
    instance: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    @cached_property
    def newest_sample(self) -> float | None:
        """When the newest sample of ranks and exporters was taken, Unix seconds; None where there is none."""
        times = np.concatenate((self.sampled_at, self.exporters.sampled_at))
        return float(times.max()) if len(times) else None

    @cached_property
    def collectives(self) -> StartedTable:
        """`started` without Sends and Recvs: of a collective all ranks of a communicator launch the same number."""
        known = [self.vocabulary.find(name) for name in _POINT_TO_POINT]
        kept = ~np.isin(self.started.op, np.array([code for code in known if code is not None], dtype=np.int32))
        started = self.started
        return StartedTable(started.comm[kept], started.rank[kept], started.op[kept], started.started[kept])
