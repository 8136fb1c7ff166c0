"""What counters gained between two instants, also those that began in between."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.difference import Difference
from sentinel.measure.index import SeriesIndex
from sentinel.model.vocabulary import Codes

__all__ = ["Gains"]

Floats = npt.NDArray[np.float64]


class Gains:
    """A process's counters begin at zero: one that first shows, of a rank that was there already, gained its value.

    A benchmark that tries each size once would show nothing else.
    """

    def __init__(self, values: int) -> None:
        """`values` counters a series."""
        self._difference = Difference(values)
        self._index = SeriesIndex()

    def step(self, keys: tuple[Codes, ...], values: tuple[Floats, ...], was_there: npt.NDArray[np.bool_]) -> Floats:
        """Gain of each series since the instant before, shape (values, n): as `Difference.step`.

        `was_there`, shape (n,): whether its rank was known at the instant before.
        """
        known = len(self._index)
        is_new = self._index.rows(*keys) >= known
        gain = self._difference.step(keys, values)
        first = is_new & was_there
        for now, gained in zip(values, gain, strict=True):
            gained[first] = now[first]
        return gain
