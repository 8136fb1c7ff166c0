"""How far an AR(1) series strays from what its value some ticks ago lets expect."""

import numpy as np
import numpy.typing as npt

__all__ = ["run_deviation", "step_deviation"]

Floats = npt.NDArray[np.float64]


def step_deviation(remains: Floats) -> Floats:
    """Standard deviation of x(t) − rho^n x(t − n), for a series whose own is 1. Shape (n,).

    `remains` is rho^n, what is left of an old value: Var = 1 − rho^2n.
    """
    return np.asarray(np.sqrt(np.maximum(0.0, 1.0 - remains**2)))


def run_deviation(rho: Floats, remains: Floats, ticks: Floats) -> Floats:
    """What each of n such differences in a row counts as, so that their sum counts as it scatters. Shape (n,).

    `ticks` is n ≥ 1, `remains` is rho^n. With y(i) = x(t + i) − rho^i x(t) the sum of y(1) … y(n) is that of the
    innovations, the k-th times (1 − rho^(n−k+1)) / (1 − rho); so its variance is (1 + rho) / (1 − rho) times the sum of
    (1 − rho^m)², m = 1 … n. Of that, the root of a share of one in n: sqrt(1 − rho²) for one tick, and what averages of
    an autocorrelated series are always corrected by, sqrt((1 + rho) / (1 − rho)), for many.
    """
    gone = 2 * rho * (1 - remains) / (1 - rho) - rho**2 * (1 - remains**2) / (1 - rho**2)
    return np.asarray(np.sqrt((1 + rho) / (1 - rho) * np.maximum(0.0, 1 - gone / ticks)))
