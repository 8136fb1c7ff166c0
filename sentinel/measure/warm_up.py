"""Which communicators are past their first seconds and operations."""

from collections.abc import Mapping

import numpy as np

from sentinel.config.detection import BaselineSettings
from sentinel.measure.groups import group_rows
from sentinel.model.snapshot import Snapshot

__all__ = ["WarmUp"]


class WarmUp:
    """A communicator is warm once it has been seen for `warm_up`, or each known rank has launched `warm_up_operations`.

    The first operations of a communicator set up connections and take up to a thousand times as long as later ones.
    """

    def __init__(self, settings: BaselineSettings) -> None:
        self._seconds = settings.warm_up.total_seconds()
        self._operations = settings.warm_up_operations
        self._first_seen: dict[int, float] = {}

    def step(self, snapshot: Snapshot) -> Mapping[int, bool]:
        """For each communicator with launched operations, by code: whether it is warm."""
        started = snapshot.started
        of_rank, first = group_rows(started.comm, started.rank)
        launched = np.bincount(of_rank, weights=np.nan_to_num(started.started), minlength=len(first))
        of_comm, place = group_rows(started.comm[first])
        least = np.full(len(place), np.inf)
        np.minimum.at(least, of_comm, launched)
        fewest = dict(zip(started.comm[first][place].tolist(), least.tolist(), strict=True))
        self._first_seen = {comm: self._first_seen.get(comm, snapshot.time) for comm in fewest}
        return {
            comm: count >= self._operations or snapshot.time - self._first_seen[comm] >= self._seconds
            for comm, count in fewest.items()
        }
