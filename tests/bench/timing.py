"""Histograms of callback times as the native bench gives them, and their quantiles."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# As long as this, or longer (plugin/bench/histogram.h).
LONGEST_TICKS = 1 << 16


class Timing:
    """Durations of one kind of callback, in ticks of the time stamp counter."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._sum = 0

    def add(self, histogram: dict[str, Any]) -> None:
        """One of the bench's histograms."""
        self._sum += histogram["sum"]
        for ticks, number in histogram["counts"]:
            self._counts[ticks] = self._counts.get(ticks, 0) + number

    def merge(self, other: "Timing") -> None:
        self._sum += other._sum
        for ticks, number in other._counts.items():
            self._counts[ticks] = self._counts.get(ticks, 0) + number

    @property
    def number(self) -> int:
        return sum(self._counts.values())

    @property
    def mean(self) -> float:
        return self._sum / self.number

    def quantiles(self, shares: Iterable[float], step: int) -> list[float]:
        """The durations below which these shares lie; a counter that advances in steps spreads each reading over one.

        A counter's reading is wrong by up to a step either way but right on average, so that the middle of many
        readings tells more than one step.
        """
        ticks = np.array(sorted(self._counts))
        below = np.cumsum([self._counts[each] for each in ticks])
        wanted = np.array(list(shares)) * below[-1]
        place = np.searchsorted(below, wanted)
        number = np.diff(below, prepend=0)
        inside = (wanted - (below - number)[place]) / number[place]
        return [max(0.0, float(each)) for each in ticks[place] + step * (inside - 0.5)]

    def step(self) -> int:
        """In which steps the counter advances."""
        return math.gcd(*(ticks for ticks in self._counts if ticks < LONGEST_TICKS)) or 1


def together(timings: Iterable[Timing]) -> Timing:
    """All of them as one."""
    whole = Timing()
    for each in timings:
        whole.merge(each)
    return whole
