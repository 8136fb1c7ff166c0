"""Which communicators are past their first seconds and operations."""

from collections.abc import Mapping

import numpy as np

from sentinel.config.detection import BaselineSettings
from sentinel.measure.labels import LabelReader
from sentinel.model.snapshot import Snapshot

__all__ = ["WarmUp"]


class WarmUp:
    """A communicator is warm once it has been seen for `warm_up`, or each known rank has launched `warm_up_operations`.

    The first operations of a communicator set up connections and take up to a thousand times as long as later ones.
    """

    def __init__(self, settings: BaselineSettings) -> None:
        self._seconds = settings.warm_up.total_seconds()
        self._operations = settings.warm_up_operations
        self._labels = LabelReader()
        self._first_seen: dict[int, float] = {}

    def step(self, snapshot: Snapshot) -> Mapping[int, bool]:
        """For each communicator with launched operations, by code: whether it is warm."""
        started = snapshot.started
        labels = self._labels.read(comm=started.comm, rank=started.rank)
        ranks, comms = labels.groups("comm", "rank"), labels.groups("comm")
        launched = np.bincount(ranks.of, weights=np.nan_to_num(started.started), minlength=len(ranks))
        least = np.full(len(comms), np.inf)
        np.minimum.at(least, comms.of[ranks.first], launched)
        fewest = dict(zip(labels["comm"][comms.first].tolist(), least.tolist(), strict=True))
        self._first_seen = {comm: self._first_seen.get(comm, snapshot.time) for comm in fewest}
        return {
            comm: count >= self._operations or snapshot.time - self._first_seen[comm] >= self._seconds
            for comm, count in fewest.items()
        }
