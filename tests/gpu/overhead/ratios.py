"""What a variant costs, from paired runs.

In each round every variant has a pair of processes, and no plugin has two. They take turns, in an order drawn for each
turn. A variant's ratio in a turn is its time over the mean of the two without a plugin: whatever drifts slowly cancels.
Its ratio in a round is the median of the turns: turns of the same processes are alike, so that only rounds count as
independent. One pair without a plugin over the other says how far apart two runs of the same thing are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final, Literal

import numpy as np

NONE: Final = "none"
RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95
SEED: Final = 20_26

Verdict = Literal["met", "not met", "undecided"]


@dataclass(frozen=True, slots=True)
class Run:
    """One workload in one turn of a pair of processes; `place` tells the pairs of a round apart."""

    round: int
    turn: int
    place: int
    variant: str
    time_us: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A median and the bootstrap's interval around it."""

    median: float
    low: float
    high: float
    rounds: int


def variant_ratios(runs: Iterable[Run], variant: str) -> list[float]:
    """The variant's ratio in each round that has a whole turn, in the order of the rounds."""
    return _by_round(runs, lambda turn: [time / fmean(_times(turn, NONE)) for time in _times(turn, variant)])


def noise_ratios(runs: Iterable[Run]) -> list[float]:
    """One pair without a plugin over the other, in each round that has a whole turn."""

    def ratio(turn: Sequence[Run]) -> list[float]:
        first, second = _times(turn, NONE)
        return [second / first]

    return _by_round(runs, ratio)


def median_interval(ratios: Sequence[float], seed: int = SEED) -> Interval:
    """The median of the ratios and its percentile bootstrap interval. Raises ValueError for fewer than two."""
    values = np.asarray(ratios, dtype=float)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"{values.size} rounds: an interval needs two or more")
    draws = np.random.default_rng(seed).integers(values.size, size=(RESAMPLES, values.size))
    medians = np.median(values[draws], axis=1)
    low, high = np.quantile(medians, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(np.median(values)), float(low), float(high), values.size)


def verdict(interval: Interval, bar: float) -> Verdict:
    """Whether the cost is at most `bar` (0.05 for 5%): undecided where the interval holds the bar."""
    if interval.high <= 1 + bar:
        return "met"
    return "not met" if interval.low > 1 + bar else "undecided"


def _by_round(runs: Iterable[Run], ratios: Callable[[Sequence[Run]], list[float]]) -> list[float]:
    rounds: dict[int, dict[int, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in sorted(runs, key=lambda run: run.place):
        rounds[run.round][run.turn].append(run)
    found = []
    for _, turns in sorted(rounds.items()):
        values = [ratio for turn in turns.values() if len(_times(turn, NONE)) == 2 for ratio in ratios(turn)]
        found += [median(values)] if values else []
    return found


def _times(group: Iterable[Run], variant: str) -> list[float]:
    return [run.time_us for run in group if run.variant == variant]
