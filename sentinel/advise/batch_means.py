"""The mean of a series in time, and how well it is known."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["LEAST_BATCHES", "Estimate", "batch_means", "difference_interval"]

Floats = npt.NDArray[np.float64]

LEAST_BATCHES = 3
_MOST_BATCHES = 10


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error (NaN where it is not known), and that error's degrees of freedom."""

    mean: float
    error: float
    degrees: int

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.error)

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Student's t interval, or None."""
        if not self.known:
            return None
        half = float(special.stdtrit(self.degrees, 0.5 + confidence / 2)) * self.error
        return self.mean - half, self.mean + half


def batch_means(times: Floats, weights: Floats, values: Floats) -> Estimate:
    """The weighted mean of `values`, and its error by the method of batch means. Shape (n,) each, n at least 1.

    What is measured now resembles what was measured a moment ago, which makes the usual error too small. The instants
    are divided into at most 10 runs of equal number, whose means depend on each other little (Schmeiser 1982, "Batch
    Size Effects in the Analysis of Simulation Output": 10 to 30 runs). Weights differ, so the error is that of a ratio
    of sums (Cochran 1977, "Sampling Techniques", chapter 6).
    """
    instants, place = np.unique(times, return_inverse=True)
    total = float(weights.sum())
    mean = float(weights @ values) / total
    count = min(len(instants), _MOST_BATCHES)
    if count < LEAST_BATCHES:
        return Estimate(mean, math.nan, 0)
    batch = (place * count) // len(instants)
    weight = np.bincount(batch, weights, count)
    residual = np.bincount(batch, weights * (values - mean), count)
    used = int(np.count_nonzero(weight))
    if used < LEAST_BATCHES:
        return Estimate(mean, math.nan, 0)
    error = math.sqrt(used / (used - 1) * float(residual @ residual)) / total
    return Estimate(mean, error, used - 1)


def difference_interval(a: Estimate, b: Estimate, confidence: float) -> tuple[float, float] | None:
    """Welch's interval of the mean of `a` minus that of `b` (degrees by Satterthwaite), or None."""
    if not (a.known and b.known):
        return None
    difference, variance = a.mean - b.mean, a.error**2 + b.error**2
    if variance == 0.0:
        return difference, difference
    degrees = variance**2 / (a.error**4 / a.degrees + b.error**4 / b.degrees)
    half = float(special.stdtrit(degrees, 0.5 + confidence / 2)) * math.sqrt(variance)
    return difference - half, difference + half
