"""Thinned histories keep their statistics."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.baseline.history import ThinnedHistory, statistics_of, steps_of
from sentinel.measure.row_space import RowSpace

ROW = np.array([0], dtype=np.int64)


present = st.lists(st.one_of(st.none(), st.integers(-999, 999).map(lambda n: n / 64)), min_size=1, max_size=40)


@given(present)
def test_a_step_is_from_the_value_before_whatever_lies_between(series: list[float | None]) -> None:
    expected, before = [], None
    for value in series:
        expected.append(math.nan if value is None or before is None else value - before)
        before = before if value is None else value
    np.testing.assert_array_equal(steps_of(np.array([series], dtype=float))[0], expected)


@given(present.filter(lambda series: any(value is not None for value in series)))
def test_all_at_once_says_what_one_after_the_other_does(series: list[float | None]) -> None:
    values = np.array([series], dtype=float)
    found = statistics_of(values, steps_of(values))
    expected = filled(values[0][np.isfinite(values[0])]).statistics(ROW)
    assert asdict(found) == asdict(expected)


def rows_of(count: int, capacity: int) -> ThinnedHistory:
    space = RowSpace()
    space.take(count)
    return ThinnedHistory(space, capacity)


def filled(values: np.ndarray, capacity: int = 512) -> ThinnedHistory:
    history = rows_of(1, capacity)
    for value in values:
        history.append(ROW, np.array([value]))
    return history


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 1000])
def test_what_is_kept_spans_the_whole_past_evenly(count: int) -> None:
    history = filled(np.arange(count, dtype=float), capacity=8)
    assert history.counts(ROW)[0] == count
    assert history.statistics(ROW).median[0] == pytest.approx((count - 1) / 2, abs=count / 8 + 0.5)


def test_statistics_survive_thinning() -> None:
    values = np.random.default_rng(3).normal(5.0, 2.0, 20_000)
    history = filled(values)
    assert history.statistics(ROW).median[0] == pytest.approx(5.0, abs=0.3)
    assert history.statistics(ROW).spread[0] == pytest.approx(2.0, rel=0.12)
    assert history.statistics(ROW).autocorrelation[0] < 0.2


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_autocorrelation(rho: float) -> None:
    random = np.random.default_rng(4)
    values = np.zeros(4000)
    for place in range(1, len(values)):
        values[place] = rho * values[place - 1] + random.normal()
    assert filled(values).statistics(ROW).autocorrelation[0] == pytest.approx(rho, abs=0.12)


def test_outliers_do_not_move_it() -> None:
    values = np.random.default_rng(5).normal(0.0, 1.0, 500)
    values[::20] = 1000.0
    history = filled(values)
    assert abs(history.statistics(ROW).median[0]) < 0.2
    assert 1.0 < history.statistics(ROW).spread[0] < 3.5  # they weigh as a heavy tail would


def test_rows_are_independent() -> None:
    history = rows_of(4, capacity=4)
    history.append(np.array([0, 2]), np.array([1.0, 9.0]))
    history.append(np.array([2]), np.array([11.0]))
    assert history.counts(np.arange(4)).tolist() == [1, 0, 2, 0]
    assert history.statistics(np.array([2, 0])).median.tolist() == [10.0, 1.0]


def test_a_heavy_tail_widens_the_spread() -> None:
    """For a log-normal sample the median absolute deviation alone says 0.9; one in a hundred lies beyond 16."""
    values = np.random.default_rng(6).lognormal(0.0, 1.2, 500)
    assert filled(values).statistics(ROW).spread[0] == pytest.approx(6.6, rel=0.3)
    assert filled(-values).statistics(ROW).spread[0] < 1.5  # what is early does no harm
