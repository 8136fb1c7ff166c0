"""Group statistics against the plain definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.peers import MAD_TO_SIGMA, group_mad, group_median, peers_median, row_median

VALUES = st.lists(
    st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6, allow_nan=False, width=32)), min_size=1, max_size=40
)


def arrays(rows: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    group = np.unique([number for number, _ in rows], return_inverse=True)[1].astype(np.int64)
    return np.array([value for _, value in rows], dtype=float), group


@given(VALUES)
def test_group_median_and_mad(rows: list[tuple[int, float]]) -> None:
    values, group = arrays(rows)
    for number in range(group.max() + 1):
        mine = values[group == number]
        assert np.median(mine) == group_median(values, group)[number]
        expected = MAD_TO_SIGMA * np.median(np.abs(mine - np.median(mine)))
        assert expected == pytest.approx(group_mad(values, group)[number])


@given(VALUES)
def test_peers_median_leaves_oneself_out(rows: list[tuple[int, float]]) -> None:
    values, group = arrays(rows)
    result = peers_median(values, group)
    for place in range(len(values)):
        others = np.delete(values, place)[np.delete(group, place) == group[place]]
        assert result[place] == (np.median(others) if len(others) else pytest.approx(np.nan, nan_ok=True))


@pytest.mark.parametrize("size", [2, 3, 15, 16, 17, 18, 40, 41])
@pytest.mark.parametrize("ties", [False, True])
def test_groups_of_any_size(size: int, ties: bool) -> None:
    values = np.random.default_rng(size).normal(size=(5, size)).round(0 if ties else 9)
    group = np.repeat(np.arange(5), size)
    assert group_median(values.reshape(-1), group).tolist() == np.median(values, axis=1).tolist()
    assert row_median(values).tolist() == np.median(values, axis=1).tolist()
    others = [np.median(np.delete(row, place)) for row in values for place in range(size)]
    assert peers_median(values.reshape(-1), group).tolist() == others


def test_nothing_has_no_statistics() -> None:
    nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
    assert len(peers_median(nothing, none)) == len(group_median(nothing, none)) == len(group_mad(nothing, none)) == 0
