"""What many series normally are, learnt on the way from their first judged ticks."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.detect.autocorrelation import run_deviation
from sentinel.measure.peers import MAD_TO_SIGMA, row_median
from sentinel.measure.row_space import Column, Rows, RowSpace

__all__ = ["LearntNormal", "Normals"]

Floats = npt.NDArray[np.float64]

# Looked at again whenever it has doubled, and no more after this many times `min_ticks`: a baseline that trails for
# ever swallows what it should show.
_DOUBLINGS = 4
_MAX_AUTOCORRELATION = 0.98


@dataclass(frozen=True)
class Normals:
    """Of some series, shape (n,); NaN where not enough is known yet."""

    centre: Floats
    spread: Floats  # standard deviation of one tick
    autocorrelation: Floats  # from one tick to the next

    @property
    def lasting_spread(self) -> Floats:
        """What ticks that are added up count as: averages of an AR(1) series scatter by more."""
        return self.spread * run_deviation(self.autocorrelation, np.zeros(len(self.spread)), np.array(np.inf))


class LearntNormal:
    """Median and spread of numbered series. Memory is bounded: `16 * min_ticks` values of each, and then it is settled.

    The spread is robust (MAD), and corrected for few values by t quantiles instead of normal ones.
    """

    def __init__(self, min_ticks: int, space: RowSpace) -> None:
        self._lengths = [min_ticks * 2**doubling for doubling in range(_DOUBLINGS + 1)]
        self._span = self._lengths[-1]
        # Most of the memory that detection takes. Those of one tick lie together, as they are written.
        self._values = Column(space, np.nan, (self._span,), dtype=np.float32, order="F")
        self._count = Column(space, 0, dtype=np.int64)
        self._table = Column(space, np.nan, (3,))

    def normal(self, rows: Rows) -> Normals:
        """What is known of these series, shape (n,)."""
        return Normals(*self._table[rows].T)

    def append(self, rows: Rows, values: Floats) -> None:
        """One value for each of some series, shape (n,); no row twice. What is settled stays as it is."""
        kept = np.isfinite(values) & (self._count[rows] < self._span)
        rows, values = rows[kept], values[kept]
        count = self._count[rows]
        self._values.values[rows, count] = values
        self._count[rows] = count + 1
        for length in self._lengths:
            due = rows[count == length - 1]
            if len(due):
                self._table[due] = _normals(self._values.values[due, :length].astype(np.float64))


def _normals(values: Floats) -> Floats:
    """The columns of `Normals`. values: (n, ticks), in the order of time. Shape (n, 3)."""
    ticks = values.shape[1]
    centre = row_median(values)
    spread = MAD_TO_SIGMA * row_median(np.abs(values - centre[:, None]))
    # For a stationary series Var(x_t − x_{t−1}) = 2 (1 − rho) Var(x); outliers move neither median.
    steps = MAD_TO_SIGMA * row_median(np.abs(np.diff(values, axis=1)))
    ratio = np.divide(steps, spread, out=np.full(len(values), np.sqrt(2.0)), where=spread > 0)
    rho = np.clip(1.0 - 0.5 * ratio**2, 0.0, _MAX_AUTOCORRELATION)
    few = np.sqrt(1 + 1 / ticks) * special.stdtrit(ticks - 1, 0.999) / special.ndtri(0.999)
    return np.stack([centre, spread * few, rho], axis=1)
