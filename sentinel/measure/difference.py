"""What counters gained between two instants."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.index import SeriesIndex
from sentinel.model.vocabulary import Codes

__all__ = ["Difference"]

Floats = npt.NDArray[np.float64]


class Difference:
    """The last values of many series, and how far the next ones are from them."""

    def __init__(self, values: int) -> None:
        """`values` counters a series."""
        self._index = SeriesIndex()
        self._last = np.empty((values, 0))

    def step(self, keys: tuple[Codes, ...], values: tuple[Floats, ...]) -> Floats:
        """Gain of each series since the instant before, shape (values, n).

        keys: columns of shape (n,), no key twice; values: shape (n,) each. NaN where a series is new, was missing at
        the instant before, or has no value; below zero where a counter was reset.
        """
        rows, size = self._index.rows(*keys), len(self._index)
        # Series that are absent now have no last value at the next instant.
        before, self._last = self._last, np.full((len(values), size), np.nan)
        known = rows < before.shape[1]
        gain = np.empty((len(values), len(rows)))
        for now, last, kept, gained in zip(values, before, self._last, gain, strict=True):
            kept[rows] = now
            if known.all():
                np.subtract(now, last[rows], out=gained)
            else:
                gained[:] = np.nan
                gained[known] = now[known] - last[rows[known]]
        return gain
