"""Many series, each kept thin enough to stay in memory however long it grows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.measure.peers import MAD_TO_SIGMA
from sentinel.measure.row_space import Column, Rows, RowSpace

__all__ = ["Statistics", "ThinnedHistory", "medians_of", "statistics_of", "steps_of"]

Floats = npt.NDArray[np.float64]

_UPPER = (0.90, 0.99)
_Z = special.ndtri(_UPPER)
# The far quantile of a log-normal sample with sigma 1.2 tells 2.3 times what the near one does; what tells more is an
# incident that nobody knew of, and not noise.
_FAR_RATIO = 2.5
_LEAST_FOR_TAILS = 64


@dataclass(frozen=True)
class Statistics:
    """Of some series, shape (n,).

    `spread` is how far values scatter upwards, as a standard deviation: what a normal sample would have. The largest of
    what the median absolute deviation says and what the upper quantiles do: of skewed or heavy-tailed values the first
    knows the middle only. Of few values it alone is asked: an incident among them may be more than a tail.

    `autocorrelation`, from one value to the next, is 0 to 0.99. For a stationary series
    Var(x_t − x_{t−1}) = 2 (1 − rho) Var(x); both variances are taken from median absolute deviations, which outliers
    and incidents do not move.
    """

    median: Floats
    spread: Floats
    autocorrelation: Floats


def statistics_of(values: Floats, steps: Floats) -> Statistics:
    """Of series of values, shape (n, windows), NaN where there is none, each with a value at least.

    `steps`: how far each value is from the one just before it; of the same shape, NaN where it is not known.
    """
    ordered, count = _ordered(values)
    middle = _quantile(ordered, count, 0.5)
    central = _deviation(ordered, count, middle)
    return Statistics(middle, _spread(ordered, count, middle, central), _autocorrelations(steps, central))


def steps_of(values: Floats) -> Floats:
    """How far each value is from the one before it, whatever lies between. As values: shape (n, windows)."""
    place = np.where(np.isfinite(values), np.arange(values.shape[1]), -1)
    before = np.maximum.accumulate(place, axis=1)[:, :-1]
    steps = np.full_like(values, np.nan)
    steps[:, 1:] = np.where(before >= 0, values[:, 1:] - np.take_along_axis(values, before, axis=1), np.nan)
    return steps


def medians_of(values: Floats) -> Floats:
    """The median of each series. As `statistics_of`."""
    return _quantile(*_ordered(values), 0.5)


class ThinnedHistory:
    """Values over time for numbered series, at most `capacity` of each.

    When a series is full every second value is dropped and from then on only every second is taken, so that what is
    kept spans its whole past evenly. With each value the step from the one just before it is kept, for the
    autocorrelation.
    """

    def __init__(self, space: RowSpace, capacity: int = 512) -> None:
        self._capacity = capacity
        self._values, self._steps = (Column(space, np.nan, (capacity,)) for _ in range(2))
        self._last = Column(space, np.nan)
        self._seen = Column(space, 0, dtype=np.int64)

    def append(self, rows: Rows, values: Floats) -> None:
        """One value for each of some series. rows, values: shape (n,); no row twice."""
        if not len(rows):
            return
        stride = self._stride(rows)
        taken = self._seen[rows] % stride == 0
        kept, place = rows[taken], (self._seen[rows] // stride)[taken]
        self._values.values[kept, place] = values[taken]
        self._steps.values[kept, place] = values[taken] - self._last[kept]
        self._last[rows] = values
        self._seen[rows] += 1
        for row in rows[self._seen[rows] == self._capacity * stride].tolist():
            for table in (self._values.values, self._steps.values):
                half = table[row, ::2].copy()
                table[row] = np.nan
                table[row, : len(half)] = half

    def counts(self, rows: Rows) -> Rows:
        """How many values each series has seen, thinned away or not."""
        return self._seen[rows]

    def statistics(self, rows: Rows) -> Statistics:
        """Of what is kept of some series. rows: shape (n,), each with a value at least."""
        return statistics_of(self._kept(self._values.values, rows), self._kept(self._steps.values, rows))

    def _kept(self, table: Floats, rows: Rows) -> Floats:
        """No wider than needed: most series are young."""
        width = int(np.minimum(self._seen[rows], self._capacity).max(initial=1))
        return table[rows, :width]

    def _stride(self, rows: Rows) -> Rows:
        """1 until a series has filled its capacity, then 2, 4 and so on."""
        return np.left_shift(
            1, np.maximum(0, np.ceil(np.log2((self._seen[rows] + 1) / self._capacity))).astype(np.int64)
        )


def _ordered(values: Floats) -> tuple[Floats, Rows]:
    """Each row in order, NaN last; and how many are none. Shapes (n, width), (n,)."""
    return np.sort(values, axis=1), np.count_nonzero(np.isfinite(values), axis=1)


def _autocorrelations(steps: Floats, spread: Floats) -> Floats:
    ordered, known = _ordered(np.abs(steps))
    judged = (known >= 3) & (spread > 0)
    step_spread = MAD_TO_SIGMA * _quantile(ordered, np.maximum(known, 1), 0.5)
    ratio = np.divide(step_spread, spread, out=np.ones(len(spread)), where=judged)
    return np.where(judged, np.clip(1.0 - 0.5 * ratio**2, 0.0, 0.99), 0.0)


def _spread(ordered: Floats, count: Rows, middle: Floats, central: Floats) -> Floats:
    if not (count >= _LEAST_FOR_TAILS).any():
        return central
    tail, far = ((_quantile(ordered, count, level) - middle) / z for level, z in zip(_UPPER, _Z, strict=True))
    upper = np.maximum(tail, np.minimum(far, _FAR_RATIO * tail))
    return np.where(count < _LEAST_FOR_TAILS, central, np.maximum(central, upper))


def _quantile(ordered: Floats, count: Rows, level: float) -> Floats:
    """The quantile of the first `count` of each row, interpolated linearly. ordered: shape (n, width)."""
    place = level * (count - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, count - 1)
    rows = np.arange(len(ordered))
    return np.asarray(ordered[rows, low] + (place - low) * (ordered[rows, high] - ordered[rows, low]))


def _deviation(ordered: Floats, count: Rows, middle: Floats) -> Floats:
    """The median absolute deviation from `middle`, as a standard deviation."""
    return MAD_TO_SIGMA * _quantile(np.sort(np.abs(ordered - middle[:, None]), axis=1), count, 0.5)
