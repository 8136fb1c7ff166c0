"""For how long each rank's counters counted in a window."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.difference import Difference
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes

__all__ = ["SpanReader", "Spans"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spans:
    """From the sample before to the newest one, by (comm, rank): after a scrape that failed twice as long as usual.

    `key` is in order, shape (m,), as is `seconds`.
    """

    key: npt.NDArray[np.int64]
    seconds: Floats

    @classmethod
    def unknown(cls) -> "Spans":
        """Nothing known."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0))

    def of(self, comm: Codes, rank: Codes, otherwise: float) -> Floats:
        """Seconds for each row, shape (n,); `otherwise` where nothing is known."""
        if not len(self.key):
            return np.full(len(comm), otherwise)
        wanted = _key(comm, rank)
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[place] == wanted, self.seconds[place], otherwise)


class SpanReader:
    """Folds snapshots, in the order of time."""

    def __init__(self) -> None:
        self._sampled = Difference(1)

    def step(self, snapshot: Snapshot) -> Spans:
        """The spans of the window that ends at this snapshot."""
        who = snapshot.communicators
        seconds = self._sampled.step((who.comm, who.rank), (snapshot.sampled_at,))[0]
        known = np.flatnonzero(np.nan_to_num(seconds) > 0)
        key = _key(who.comm[known], who.rank[known])
        order = np.argsort(key, kind="stable")
        return Spans(key[order], seconds[known][order])


def _key(comm: Codes, rank: Codes) -> npt.NDArray[np.int64]:
    return np.asarray(comm.astype(np.int64) << 32 | rank)
