"""How much of the shortest rank's duration may be waiting, where arrivals scatter."""

import math
from functools import lru_cache

import numpy as np
from scipy import special

__all__ = ["waiting_per_scatter"]


@lru_cache(maxsize=256)
def waiting_per_scatter(ranks: int) -> float:
    """Mean wait of a rank for the last one, over the standard deviation of that rank's durations.

    Of n independent, normal arrivals with deviation s, the last comes s·E(n) after the mean, E(n) the expected maximum
    of n standard normals (0.56 for 2, 1.42 for 8). A rank is inside for max(S) − S_i + T, whose variance is
    s²·(1 + V(n) − 2/n), V(n) the variance of that maximum, and 1/n its covariance with one of them. If one rank is
    always the last its durations do not scatter, and it waits for nobody.
    """
    if ranks < 2:
        return 0.0
    x = np.linspace(-9.0, 9.0, 3601)
    density = ranks * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * special.ndtr(x) ** (ranks - 1)
    step = x[1] - x[0]
    maximum = float((x * density).sum() * step)
    variance = float((x**2 * density).sum() * step) - maximum**2
    return maximum / float(np.sqrt(1.0 + variance - 2.0 / ranks))
