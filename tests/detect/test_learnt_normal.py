"""What is learnt on the way, and when it stops."""

import numpy as np
import pytest

from sentinel.detect.learnt_normal import LearntNormal


def learnt(values: np.ndarray, min_ticks: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """values: (ticks, series)."""
    normal, rows = LearntNormal(min_ticks), np.arange(values.shape[1])
    for tick in values:
        normal.append(rows, tick)
    return normal.normal(rows)


def test_nothing_is_known_before_enough_ticks() -> None:
    assert np.isnan(learnt(np.ones((7, 2)))).all()
    assert learnt(np.ones((8, 2)))[0].tolist() == [1.0, 1.0]


def test_the_median_and_spread_are_robust_and_correct() -> None:
    values = 3.0 + np.random.default_rng(3).standard_normal((128, 500))
    values[5] = 1000.0
    centre, spread = learnt(values)
    assert np.median(centre) == pytest.approx(3.0, abs=0.02)
    assert 1.0 < np.median(spread) < 1.4


def test_autocorrelation_widens_it() -> None:
    random, rho = np.random.default_rng(4), 0.9
    values = [random.standard_normal(500)]
    for _ in range(127):
        values.append(rho * values[-1] + np.sqrt(1 - rho**2) * random.standard_normal(500))
    spread = learnt(np.array(values))[1]
    # sqrt((1 + 0.9) / (1 - 0.9)) = 4.4; the estimate from 128 ticks is low by some.
    assert 2.5 < np.median(spread) < 5.5


def test_what_is_settled_does_not_trail() -> None:
    normal, row = LearntNormal(2), np.array([0])
    for _ in range(32):
        normal.append(row, np.array([1.0]))
    for _ in range(1000):
        normal.append(row, np.array([5.0]))
    assert normal.normal(row)[0].tolist() == [1.0]


def test_missing_values_are_left_out_and_new_series_start_anew() -> None:
    normal, both = LearntNormal(2), np.array([0, 7])
    for values in ([1.0, np.nan], [2.0, np.nan], [3.0, 4.0]):
        normal.append(both, np.array(values))
    centre, _ = normal.normal(both)
    assert centre[0] == 1.5
    assert np.isnan(centre[1])
