"""What many series normally are, learnt on the way from their first judged ticks."""

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.measure.index import Rows, grown
from sentinel.measure.peers import MAD_TO_SIGMA, row_median

__all__ = ["LearntNormal"]

Floats = npt.NDArray[np.float64]

# Looked at again whenever it has doubled, and no more after this many times `min_ticks`: a baseline that trails for
# ever swallows what it should show.
_DOUBLINGS = 4
_MAX_AUTOCORRELATION = 0.98


class LearntNormal:
    """Median and spread of numbered series. Memory is bounded: `16 * min_ticks` values of each, and then it is settled.

    The spread is what single ticks are compared with: robust (MAD), corrected for autocorrelation as averages of an
    AR(1) series scatter by sqrt((1 + rho) / (1 − rho)) more, and for few values by t quantiles instead of normal ones.
    """

    def __init__(self, min_ticks: int) -> None:
        self._lengths = [min_ticks * 2**doubling for doubling in range(_DOUBLINGS + 1)]
        self._span = self._lengths[-1]
        # By tick and series: most of the memory that detection takes.
        self._values = np.empty((self._span, 0), dtype=np.float32)
        self._count = np.empty(0)
        self._table = np.empty((0, 2))

    def normal(self, rows: Rows) -> tuple[Floats, Floats]:
        """Median and spread of each of these series, shape (n,); NaN where not enough is known yet."""
        self._grow(rows)
        centre, spread = self._table[rows].T
        return centre, spread

    def append(self, rows: Rows, values: Floats) -> None:
        """One value for each of some series, shape (n,); no row twice. What is settled stays as it is."""
        self._grow(rows)
        kept = np.isfinite(values) & (self._count[rows] < self._span)
        rows, values = rows[kept], values[kept]
        count = self._count[rows].astype(np.int64)
        self._values[count, rows] = values
        self._count[rows] = count + 1
        for length in self._lengths:
            due = rows[count == length - 1]
            if len(due):
                self._table[due] = _median_and_spread(self._values[:length, due].T.astype(np.float64))

    def _grow(self, rows: Rows) -> None:
        size = int(rows.max()) + 1 if len(rows) else 0
        self._count, self._table = grown(self._count, size, 0.0), grown(self._table, size, np.nan)
        known = self._values.shape[1]
        if len(self._count) > known:
            wider = np.full((self._span, len(self._count)), np.nan, dtype=np.float32)
            wider[:, :known] = self._values
            self._values = wider


def _median_and_spread(values: Floats) -> Floats:
    """values: (n, ticks), in the order of time. Shape (n, 2)."""
    ticks = values.shape[1]
    centre = row_median(values)
    spread = MAD_TO_SIGMA * row_median(np.abs(values - centre[:, None]))
    # For a stationary series Var(x_t − x_{t−1}) = 2 (1 − rho) Var(x); outliers move neither median.
    steps = MAD_TO_SIGMA * row_median(np.abs(np.diff(values, axis=1)))
    ratio = np.divide(steps, spread, out=np.full(len(values), np.sqrt(2.0)), where=spread > 0)
    rho = np.clip(1.0 - 0.5 * ratio**2, 0.0, _MAX_AUTOCORRELATION)
    few = np.sqrt(1 + 1 / ticks) * special.stdtrit(ticks - 1, 0.999) / special.ndtri(0.999)
    return np.stack([centre, spread * few * np.sqrt((1 + rho) / (1 - rho))], axis=1)
