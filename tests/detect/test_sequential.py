"""The CUSUM keeps its promise about false alarms, and finds what it should."""

import numpy as np
import pytest

from sentinel.detect.sequential import Cusum, cusum_threshold
from sentinel.measure.row_space import RowSpace


@pytest.mark.parametrize("run_length", [200.0, 1000.0])
def test_threshold_gives_the_run_length(run_length: float) -> None:
    h = cusum_threshold(run_length, 1.0)
    random = np.random.default_rng(11)
    series = 4000
    space = RowSpace()
    rows = space.take(series)
    cusum, first = Cusum(1.0, space), np.full(series, np.inf)
    for tick in range(int(run_length)):
        reading = cusum.step(rows, random.normal(size=series), float(tick), clip=100.0, cap=100.0)
        first[(reading.sum >= h) & ~np.isfinite(first)] = tick + 1
    # Run lengths are geometric: a share 1 - exp(-1) of the series has alarmed by the mean. Siegmund's formula is
    # an approximation, a few percent off.
    assert np.isfinite(first).mean() == pytest.approx(1 - np.exp(-1), abs=0.06)


def test_a_small_persistent_shift_counts_and_a_spike_does_not() -> None:
    h = cusum_threshold(1e6, 1.0)
    space = RowSpace()
    cusum, row = Cusum(1.0, space), space.take(1)
    spike = cusum.step(row, np.array([1000.0]), 0.0, clip=1.0 + h / 2, cap=2 * h)
    assert spike.sum[0] < h
    for tick in range(1, 20):
        reading = cusum.step(row, np.array([0.0]), float(tick), clip=1.0 + h / 2, cap=2 * h)
    assert reading.sum[0] == 0.0
    for tick in range(20, 40):
        reading = cusum.step(row, np.array([2.0]), float(tick), clip=1.0 + h / 2, cap=2 * h)
    assert reading.sum[0] >= h
    assert reading.started[0] == 20.0
    assert reading.ticks[0] == 20


def test_series_that_are_not_named_keep_their_state() -> None:
    space = RowSpace()
    cusum, both, one = Cusum(1.0, space), space.take(2), np.array([1])
    cusum.step(both, np.array([3.0, 3.0]), 0.0, clip=10.0, cap=100.0)
    cusum.step(one, np.array([3.0]), 1.0, clip=10.0, cap=100.0)
    assert cusum.step(both, np.array([1.0, 1.0]), 2.0, clip=10.0, cap=100.0).sum.tolist() == [2.0, 4.0]
    cusum.reset(one)
    assert cusum.step(both, np.array([1.0, 1.0]), 3.0, clip=10.0, cap=100.0).sum.tolist() == [2.0, 0.0]
