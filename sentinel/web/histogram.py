"""How long something took, by buckets."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["Histogram"]


class Histogram:
    """Observations of one thread, read whole by others. `bounds` are upper ones, rising; all else is above them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._state = ((0,) * (len(self._bounds) + 1), 0.0)

    def observe(self, value: float) -> None:
        """One more."""
        counts, total = self._state
        place = bisect_left(self._bounds, value)
        # One assignment: who reads meanwhile has counts and sum of the same observations.
        self._state = ((*counts[:place], counts[place] + 1, *counts[place + 1 :]), total + value)

    def read(self) -> tuple[list[tuple[str, float]], float]:
        """Cumulative counts by upper bound, as Prometheus has them, and the sum of all values."""
        counts, total = self._state
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        return list(zip(names, map(float, accumulate(counts)), strict=True)), total
