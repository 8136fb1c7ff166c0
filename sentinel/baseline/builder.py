"""Building a baseline from snapshots that are all at hand."""

import math
from collections.abc import Sequence

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.measured_here import MeasuredHere
from sentinel.baseline.measurer import JobIncident, StretchMeasurer
from sentinel.baseline.merge import merge
from sentinel.config.detection import BaselineSettings
from sentinel.model.place import Freeze
from sentinel.model.snapshot import Snapshot

__all__ = ["BaselineBuilder"]


class BaselineBuilder:
    """Feed it snapshots in the order of time, then ask for the baseline. As `StretchMeasurer`, for one stretch."""

    def __init__(
        self,
        settings: BaselineSettings,
        incidents: Sequence[JobIncident] = (),
        frozen: Sequence[Freeze] = (),
    ) -> None:
        self._settings = settings
        self._measurer = StretchMeasurer(settings, -math.inf, incidents, frozen)
        self._start = self._end = 0.0

    def add(self, snapshot: Snapshot) -> None:
        """Learn from one snapshot."""
        self._start = self._start or snapshot.time
        self._end = snapshot.time
        self._measurer.add(snapshot)

    def build(self) -> Baseline:
        """What has been learnt so far; no rows when there was nothing to learn from."""
        return merge(MeasuredHere([self._measurer.measured()]), self._settings.min_ticks, self._start, self._end)
