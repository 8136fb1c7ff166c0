"""What counters gained between two instants."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.index import SeriesIndex, grown
from sentinel.model.vocabulary import Codes

__all__ = ["Difference"]

Floats = npt.NDArray[np.float64]


class Difference:
    """The last values of many series, and how far the next ones are from them."""

    def __init__(self, values: int) -> None:
        """`values` counters a series."""
        self._index = SeriesIndex()
        self._last = np.empty((0, values))

    def step(self, keys: tuple[Codes, ...], values: tuple[Floats, ...]) -> Floats:
        """Gain of each series since the instant before, shape (n, values).

        keys: columns of shape (n,), no key twice; values: shape (n,) each. NaN where a series is new, was missing at
        the instant before, or has no value; below zero where a counter was reset.
        """
        rows = self._index.rows(*keys)
        now = np.stack(values, axis=1)
        last = grown(self._last, len(self._index), np.nan)
        gain = now - last[rows]
        # Series that are absent now have no last value at the next instant.
        self._last = np.full_like(last, np.nan)
        self._last[rows] = now
        return gain
