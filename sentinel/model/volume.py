"""What was moved, as the metrics store knew it at one instant: what detection does not read."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes

__all__ = ["CollectiveBytesTable", "PointToPointTable", "Volume"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CollectiveBytesTable:
    """Message bytes of the measured collectives; one row per (comm, rank, op), all sizes together. Shape (n,)."""

    comm: Codes
    rank: Codes
    op: Codes
    size_bytes: Floats


@dataclass(frozen=True)
class PointToPointTable:
    """Measured Sends and Recvs; one row per (comm, rank, op, size), all peers together. Shape (n,)."""

    comm: Codes
    rank: Codes
    op: Codes
    size: Codes
    operations: Floats
    seconds: Floats
    size_bytes: Floats


@dataclass(frozen=True)
class Volume:
    """Counters as of `time` (Unix seconds); codes are of the vocabulary of the source's snapshots."""

    time: float
    collectives: CollectiveBytesTable
    point_to_point: PointToPointTable

    @classmethod
    def empty(cls, time: float) -> "Volume":
        """Nothing known."""
        none = np.empty(0, dtype=np.int32)
        return cls(
            time,
            CollectiveBytesTable(none, none, none, np.empty(0)),
            PointToPointTable(none, none, none, none, np.empty(0), np.empty(0), np.empty(0)),
        )
