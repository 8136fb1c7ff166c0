"""What is learnt on the way, and when it stops."""

import numpy as np
import pytest

from sentinel.detect.learnt_normal import LearntNormal, Normals
from sentinel.measure.row_space import RowSpace


def learnt(values: np.ndarray, min_ticks: int = 8) -> Normals:
    """values: (ticks, series)."""
    space = RowSpace()
    normal, rows = LearntNormal(min_ticks, space), space.take(values.shape[1])
    for tick in values:
        normal.append(rows, tick)
    return normal.normal(rows)


def test_nothing_is_known_before_enough_ticks() -> None:
    nothing = learnt(np.ones((7, 2)))
    assert np.isnan([nothing.centre, nothing.spread, nothing.autocorrelation, nothing.lasting_spread]).all()
    assert learnt(np.ones((8, 2))).centre.tolist() == [1.0, 1.0]


def test_the_median_and_spread_are_robust_and_correct() -> None:
    values = 3.0 + np.random.default_rng(3).standard_normal((128, 500))
    values[5] = 1000.0
    normal = learnt(values)
    assert np.median(normal.centre) == pytest.approx(3.0, abs=0.02)
    assert 1.0 < np.median(normal.spread) < 1.4
    assert np.median(normal.autocorrelation) < 0.2


def test_autocorrelation_widens_what_lasts_and_not_what_one_tick_scatters_by() -> None:
    random, rho = np.random.default_rng(4), 0.9
    values = [random.standard_normal(500)]
    for _ in range(127):
        values.append(rho * values[-1] + np.sqrt(1 - rho**2) * random.standard_normal(500))
    normal = learnt(np.array(values))
    assert np.median(normal.autocorrelation) == pytest.approx(rho, abs=0.07)
    assert 0.7 < np.median(normal.spread) < 1.4
    # sqrt((1 + 0.9) / (1 - 0.9)) = 4.4; the estimate from 128 ticks is low by some.
    assert 2.5 < np.median(normal.lasting_spread) < 5.5


def test_what_is_settled_does_not_trail() -> None:
    space = RowSpace()
    normal, row = LearntNormal(2, space), space.take(1)
    for _ in range(32):
        normal.append(row, np.array([1.0]))
    for _ in range(1000):
        normal.append(row, np.array([5.0]))
    assert normal.normal(row).centre.tolist() == [1.0]


def test_missing_values_are_left_out_and_new_series_start_anew() -> None:
    space = RowSpace()
    normal, both = LearntNormal(2, space), space.take(8)[[0, 7]]
    for values in ([1.0, np.nan], [2.0, np.nan], [3.0, 4.0]):
        normal.append(both, np.array(values))
    centre = normal.normal(both).centre
    assert centre[0] == 1.5
    assert np.isnan(centre[1])


def test_a_row_that_is_used_again_knows_nothing_of_before() -> None:
    space = RowSpace()
    normal, row = LearntNormal(2, space), space.take(1)
    for _ in range(2):
        normal.append(row, np.array([1.0]))
    space.retire(row)
    assert space.take(1).tolist() == row.tolist()
    normal.append(row, np.array([9.0]))
    assert np.isnan(normal.normal(row).centre).all()
    normal.append(row, np.array([9.0]))
    assert normal.normal(row).centre.tolist() == [9.0]
