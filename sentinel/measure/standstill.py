"""For how long each rank has launched nothing."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.index import SeriesIndex
from sentinel.measure.row_space import Column
from sentinel.measure.window import Progress
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes

__all__ = ["Standstill", "StandstillWatch"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Standstill:
    """One row per (comm, rank) that is there. Shape (n,).

    `since` is the Unix time of the first sample with the counts of now, `seconds` the time from there to the newest.
    """

    comm: Codes
    rank: Codes
    since: Floats
    seconds: Floats


class StandstillWatch:
    """Follows every rank's launched operations, window by window.

    Time runs from sample to sample: while nobody is scraped nobody stands still, so that missing data does not look
    like a stall. A rank whose counts are new, or were away, starts anew.
    """

    def __init__(self) -> None:
        self._index = SeriesIndex()
        self._since = Column(self._index, np.nan)

    def step(self, progress: Progress, snapshot: Snapshot) -> Standstill:
        """Take what was launched in a window, and the snapshot at its end."""
        who, count = snapshot.communicators, len(snapshot.communicators.comm)
        both = self._index.rows(np.concatenate([who.comm, progress.comm]), np.concatenate([who.rank, progress.rank]))
        rows, launching = both[:count], both[count:]
        stands = np.zeros(len(self._index), dtype=bool)
        stands[launching] = True
        stands[launching[progress.launched != 0]] = False  # NaN is not 0: it is not known
        before = self._since[rows]
        since = np.where(stands[rows] & np.isfinite(before), before, snapshot.sampled_at)
        self._since.values[:] = np.nan
        self._since[rows] = since
        return Standstill(who.comm, who.rank, since, snapshot.sampled_at - since)

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)
