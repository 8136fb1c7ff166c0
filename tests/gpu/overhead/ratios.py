"""What a variant costs, from paired runs.

In each round the job runs once with each variant, in an order drawn for it, and without a plugin before and after them.
A variant's ratio in a round is its time over the mean of those two: whatever drifts slowly cancels. The second run
without a plugin over the first says how far apart two runs of the same thing are.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

NONE: Final = "none"
RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95
SEED: Final = 20_26

Verdict = Literal["met", "not met", "undecided"]


@dataclass(frozen=True, slots=True)
class Run:
    """One workload in one pair of processes; `place` orders the runs of a round."""

    round: int
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
    """The variant's ratio in each round that has it and both runs without a plugin, in the order of the rounds."""
    ratios = []
    for group in _rounds(runs):
        none = _times(group, NONE)
        ratios += [time / (sum(none) / len(none)) for time in _times(group, variant) if len(none) == 2]
    return ratios


def noise_ratios(runs: Iterable[Run]) -> list[float]:
    """The second run without a plugin over the first, in each round that has both."""
    pairs = (_times(group, NONE) for group in _rounds(runs))
    return [pair[1] / pair[0] for pair in pairs if len(pair) == 2]


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


def _rounds(runs: Iterable[Run]) -> list[list[Run]]:
    rounds: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        rounds[run.round].append(run)
    return [sorted(rounds[number], key=lambda run: run.place) for number in sorted(rounds)]


def _times(group: Iterable[Run], variant: str) -> list[float]:
    return [run.time_us for run in group if run.variant == variant]
