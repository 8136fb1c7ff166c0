"""CUSUM: small shifts that persist count, single spikes do not."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.row_space import Column, Rows, RowSpace

__all__ = ["SECONDS_PER_MONTH", "Cusum", "CusumReading", "cusum_threshold"]

Floats = npt.NDArray[np.float64]

SECONDS_PER_MONTH = 30 * 86_400.0


def cusum_threshold(run_length: float, reference: float) -> float:
    """The decision interval h of a one-sided CUSUM with the given in-control average run length.

    Siegmund's approximation for unit normal increments: ARL0 = (exp(2 k b) − 2 k b − 1) / (2 k²), b = h + 1.166
    (D. Siegmund, Sequential Analysis, 1985, eq. 2.57). `reference` is k, in standard deviations; `run_length` is in
    ticks, at least 2.
    """
    scaled = 2 * reference**2 * run_length
    # With x = 2 k b: x = ln(1 + scaled + x), whose iteration contracts by 1 / (1 + scaled + x) a step.
    x = math.log1p(scaled)
    for _ in range(50):
        x = math.log1p(scaled + x)
    return max(0.5, x / (2 * reference) - 1.166)


@dataclass(frozen=True)
class CusumReading:
    """After one tick, for the series asked about. `sum` over `ticks` ticks since it last was zero. Shape (n,)."""

    sum: Floats
    ticks: Rows
    started: Floats  # Unix seconds: the start of the first window of the run


class Cusum:
    """One-sided upper CUSUMs of many numbered series: S = max(0, S + x − k), x clipped to ±`clip`.

    The clip, of each series or of all, bounds what one heavy-tailed tick can add. S is capped at `cap`, which bounds
    how long a sum can outlive its cause.
    """

    def __init__(self, reference: float, space: RowSpace) -> None:
        self._reference = reference
        self._sum, self._ticks = Column(space, 0.0), Column(space, 0.0)
        self._started = Column(space, np.nan)

    def step(self, rows: Rows, values: Floats, window_start: float, clip: Floats | float, cap: float) -> CusumReading:
        """One tick. rows, values: shape (n,), no row twice; series that are not named keep their state."""
        before = self._sum[rows]
        after = np.minimum(np.maximum(0.0, before + np.clip(np.nan_to_num(values), -clip, clip) - self._reference), cap)
        alive = after > 0
        self._sum[rows] = after
        self._ticks[rows] = np.where(alive, self._ticks[rows] + 1, 0)
        self._started[rows] = np.where(alive & (before > 0), self._started[rows], window_start)
        return CusumReading(after, self._ticks[rows].astype(np.int64), self._started[rows])

    def sums(self, rows: Rows) -> Floats:
        """What stands to the account of these series, shape (n,)."""
        return self._sum[rows]

    def reset(self, rows: Rows) -> None:
        """Start these series anew."""
        self._sum[rows] = 0.0
        self._ticks[rows] = 0.0
