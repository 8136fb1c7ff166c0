"""Many series, each kept thin enough to stay in memory however long it grows."""

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.measure.index import Rows, grown
from sentinel.measure.peers import MAD_TO_SIGMA

__all__ = ["ThinnedHistory"]

Floats = npt.NDArray[np.float64]

_UPPER = (0.90, 0.99)
_Z = special.ndtri(_UPPER)
# The far quantile of a log-normal sample with sigma 1.2 tells 2.3 times what the near one does; what tells more is an
# incident that nobody knew of, and not noise.
_FAR_RATIO = 2.5
_LEAST_FOR_TAILS = 64


class ThinnedHistory:
    """Values over time for numbered series, at most `capacity` of each.

    When a series is full every second value is dropped and from then on only every second is taken, so that what is
    kept spans its whole past evenly. With each value the step from the one just before it is kept, for the
    autocorrelation.
    """

    def __init__(self, capacity: int = 512) -> None:
        self._capacity = capacity
        self._values = np.empty((0, capacity))
        self._steps = np.empty((0, capacity))
        self._last = np.empty(0)
        self._seen = np.empty(0, dtype=np.int64)

    def append(self, rows: Rows, values: Floats) -> None:
        """One value for each of some series. rows, values: shape (n,); no row twice."""
        if not len(rows):
            return
        size = int(rows.max()) + 1
        self._values = grown(self._values, size, np.nan)
        self._steps = grown(self._steps, size, np.nan)
        self._last = grown(self._last, size, np.nan)
        self._seen = np.pad(self._seen, (0, len(self._last) - len(self._seen)))
        stride = self._stride(rows)
        taken = self._seen[rows] % stride == 0
        kept, place = rows[taken], (self._seen[rows] // stride)[taken]
        self._values[kept, place] = values[taken]
        self._steps[kept, place] = values[taken] - self._last[kept]
        self._last[rows] = values
        self._seen[rows] += 1
        for row in rows[self._seen[rows] == self._capacity * stride].tolist():
            for table in (self._values, self._steps):
                half = table[row, ::2].copy()
                table[row] = np.nan
                table[row, : len(half)] = half

    def count(self, row: int) -> int:
        """How many values the series has seen, thinned away or not."""
        return int(self._seen[row]) if row < len(self._seen) else 0

    def median(self, row: int) -> float:
        """The median of what is kept."""
        return float(np.nanmedian(self._values[row]))

    def spread(self, row: int) -> float:
        """How far what is kept scatters upwards, as a standard deviation: what a normal sample would have.

        The largest of what the median absolute deviation says and what the upper quantiles do: of skewed or
        heavy-tailed values the first knows the middle only. Of few values it alone is asked: an incident among them may
        be more than a tail.
        """
        values = self._values[row]
        if np.count_nonzero(np.isfinite(values)) < _LEAST_FOR_TAILS:
            return self._central_spread(row)
        middle, *upper = np.nanquantile(values, (0.5, *_UPPER))
        tail, far = (np.array(upper) - middle) / _Z
        return float(max(self._central_spread(row), tail, min(far, _FAR_RATIO * tail)))

    def autocorrelation(self, row: int) -> float:
        """The lag-one autocorrelation, 0 to 0.99.

        For a stationary series Var(x_t − x_{t−1}) = 2 (1 − rho) Var(x); both variances are taken from median absolute
        deviations, which outliers and incidents do not move.
        """
        steps = self._steps[row]
        steps = steps[np.isfinite(steps)]
        spread = self._central_spread(row)
        if len(steps) < 3 or spread == 0.0:
            return 0.0
        step_spread = float(MAD_TO_SIGMA * np.median(np.abs(steps)))
        return float(np.clip(1.0 - 0.5 * (step_spread / spread) ** 2, 0.0, 0.99))

    def _central_spread(self, row: int) -> float:
        values = self._values[row]
        return float(MAD_TO_SIGMA * np.nanmedian(np.abs(values - np.nanmedian(values))))

    def _stride(self, rows: Rows) -> Rows:
        """1 until a series has filled its capacity, then 2, 4 and so on."""
        return np.left_shift(
            1, np.maximum(0, np.ceil(np.log2((self._seen[rows] + 1) / self._capacity))).astype(np.int64)
        )
