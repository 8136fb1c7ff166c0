"""What a job's processes have counted. Keys say what, arrays of shape (values, ranks) how much."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """Measured operations: operations, seconds, log microseconds."""

    kind: str
    op: str
    size: int
    algo: str
    proto: str


@dataclass(frozen=True)
class Started:
    """Operations launched."""

    kind: str
    op: str


@dataclass(frozen=True)
class Peer:
    """Measured Sends or Recvs with the rank that is `offset` away: operations, seconds."""

    kind: str
    op: str
    offset: int


@dataclass(frozen=True)
class Network:
    """Network steps of one direction in one state: steps, seconds."""

    kind: str
    direction: str
    state: str


@dataclass(frozen=True)
class InFlight:
    """Age of the oldest operation in flight; not a counter."""

    kind: str


Key = Cell | Started | Peer | Network | InFlight
_VALUES = {Cell: 3, Started: 1, Peer: 2, Network: 2, InFlight: 1}


class Ledger:
    """Counters by key; a key is there from when it first counts."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self.counts: dict[Key, Floats] = {}

    def of(self, key: Key) -> Floats:
        """The counters, which may be changed in place."""
        counts = self.counts.get(key)
        if counts is None:
            counts = self.counts[key] = np.zeros((_VALUES[type(key)], self._ranks))
        return counts

    def reset(self, rank: int) -> None:
        """A rank's counters start from zero."""
        for counts in self.counts.values():
            counts[:, rank] = 0.0
