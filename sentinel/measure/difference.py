"""What counters gained between two instants."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.measure.index import same_columns
from sentinel.model.vocabulary import Codes

__all__ = ["Difference"]

Floats = npt.NDArray[np.float64]


class Difference:
    """The last values of many series, and how far the next ones are from them. A series that is absent is forgotten."""

    def __init__(self, values: int) -> None:
        """`values` counters a series."""
        self._keys: tuple[Codes, ...] = ()  # of the instant before
        self._last = np.empty((values, 0))

    def step(self, keys: tuple[Codes, ...], values: tuple[Floats, ...]) -> Floats:
        """Gain of each series since the instant before, shape (values, n).

        keys: columns of shape (n,), no key twice, that stay as they are; values: shape (n,) each. NaN where a series is
        new, was missing at the instant before, or has no value; below zero where a counter was reset.
        """
        before, self._last = self._last, np.array(values, dtype=np.float64)
        if self._keys and same_columns(self._keys, keys):
            return self._last - before
        gain = np.full_like(self._last, np.nan)
        if self._keys:
            now, then = _common(keys, self._keys)
            gain[:, now] = self._last[:, now] - before[:, then]
        self._keys = keys
        return gain


def _common(some: tuple[Codes, ...], others: tuple[Codes, ...]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where the keys are that both have: their places in the one and in the other."""
    together = [np.concatenate(each, dtype=np.int64) for each in zip(some, others, strict=True)]
    number, _ = group_rows(*(each - min(0, each.min(initial=0)) for each in together))
    size = len(some[0])
    place = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.intp)
    place[number[size:]] = np.arange(len(number) - size)
    then = place[number[:size]]
    now = np.flatnonzero(then >= 0)
    return now, then[now]
