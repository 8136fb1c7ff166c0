"""For how long each rank's counters counted in a window."""

import numpy as np

from sentinel.measure.difference import Difference
from sentinel.measure.rank_table import RankTable
from sentinel.model.snapshot import Snapshot

__all__ = ["SpanReader"]


class SpanReader:
    """Folds snapshots, in the order of time."""

    def __init__(self) -> None:
        self._sampled = Difference(1)

    def step(self, snapshot: Snapshot) -> RankTable:
        """Seconds of the window that ends at this snapshot, by (comm, rank).

        From the sample before to the newest one: after a scrape that failed twice as long as usual.
        """
        who = snapshot.communicators
        seconds = self._sampled.step((who.comm, who.rank), (snapshot.sampled_at,))[0]
        known = np.flatnonzero(np.nan_to_num(seconds) > 0)
        return RankTable.from_columns(who.comm[known], who.rank[known], seconds[known])
