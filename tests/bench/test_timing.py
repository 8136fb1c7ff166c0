"""Quantiles from a counter that advances in steps."""

import numpy as np
import pytest
from bench.timing import LONGEST_TICKS, Timing


def readings(durations, step):
    """As a counter that advances in steps shows them, from any phase of it."""
    phases = np.random.default_rng(3).uniform(0, step, len(durations))
    ticks = (np.floor((durations + phases) / step) * step).astype(int)
    values, counts = np.unique(ticks, return_counts=True)
    return {
        "sum": int(ticks.sum()),
        "counts": [[int(value), int(count)] for value, count in zip(values, counts, strict=True)],
    }


def test_middle_of_many_readings_tells_more_than_a_step():
    durations = np.random.default_rng(5).normal(110, 15, 100_000)
    timing = Timing()
    timing.add(readings(durations, 26))
    assert timing.step() == 26
    assert timing.number == 100_000
    assert timing.mean == pytest.approx(110, abs=0.5)
    assert timing.quantiles([0.5], 26) == pytest.approx([110], abs=2)


def test_merging_is_adding():
    one, two = {"sum": 30, "counts": [[10, 3]]}, {"sum": 60, "counts": [[10, 2], [40, 1]]}
    timing, other = Timing(), Timing()
    timing.add(one)
    other.add(two)
    timing.merge(other)
    assert (timing.number, timing.mean) == (6, 15.0)
    assert timing.quantiles([1.0], 1) == [40.5]


def test_what_was_too_long_to_count_says_nothing_about_the_step():
    timing = Timing()
    timing.add({"sum": 26 + 52 + LONGEST_TICKS, "counts": [[26, 1], [52, 1], [LONGEST_TICKS, 1]]})
    assert timing.step() == 26
