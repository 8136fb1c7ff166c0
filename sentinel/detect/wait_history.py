"""What each wait was lately, and what it normally is."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.detect.learnt_normal import LearntNormal
from sentinel.measure.index import SeriesIndex
from sentinel.measure.row_space import Column
from sentinel.measure.waits import Waits

__all__ = ["WaitHistory", "WaitLevels"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_NEW_WEIGHT = 0.5  # of this tick against those before: a few sampled operations a tick scatter


@dataclass(frozen=True)
class WaitLevels:
    """Of each row of `Waits`, its two ratios: inside and late. Shape (n, 2).

    All rows are smoothed alike, so that what lags behind cancels in the share that one has of another. `normal` is NaN
    where it is not known.
    """

    level: Floats
    normal: Floats


class WaitHistory:
    """Smooths every wait, and learns what it is in its first healthy ticks."""

    def __init__(self, min_ticks: int) -> None:
        self._index = SeriesIndex()
        self._level = Column(self._index, np.nan, (2,))
        self._normals = [LearntNormal(min_ticks, self._index) for _ in range(2)]  # of the two ratios

    def step(self, waits: Waits, fit: Flags) -> WaitLevels:
        """One tick. fit: the rows that may be learnt from, shape (n,)."""
        rows = self._index.rows(waits.comm, waits.rank, waits.peer)
        now = np.stack([waits.inside_ratio, waits.late_ratio], axis=1)
        before = self._level[rows]
        level = np.where(np.isnan(before), now, before + _NEW_WEIGHT * (now - before))
        self._level[rows] = level
        normal = np.stack([each.normal(rows).centre for each in self._normals], axis=1)
        for each, ratio in zip(self._normals, now.T, strict=True):
            each.append(rows[fit], ratio[fit])
        return WaitLevels(level, normal)

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)
