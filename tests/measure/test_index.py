"""Row numbers of series."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.index import SeriesIndex

KEYS = st.lists(st.lists(st.tuples(st.integers(-2, 3), st.integers(0, 2**31 - 1)), max_size=12), max_size=6)


@given(KEYS)
def test_numbers_are_given_once_and_in_the_order_in_which_keys_come(ticks: list[list[tuple[int, int]]]) -> None:
    index, expected = SeriesIndex(), dict[tuple[int, ...], int]()
    for keys in ticks:
        columns = [np.array([key[at] for key in keys], dtype=np.int32) for at in range(2)]
        rows = index.rows(*columns)
        assert rows.tolist() == [expected.setdefault(key, len(expected)) for key in keys]
        assert len(index) == len(expected)
        assert index.keys(rows) == keys
    assert index.keys(np.arange(len(index))) == list(expected)


def test_nobody_was_seen_yet() -> None:
    assert len(SeriesIndex()) == 0
    assert SeriesIndex().keys(np.empty(0, dtype=np.int64)) == []


def test_the_same_series_in_another_order_have_the_same_numbers() -> None:
    index = SeriesIndex()
    keys = np.array([4, 1, 4, 9], dtype=np.int32)
    assert index.rows(keys).tolist() == [0, 1, 0, 2]
    assert index.rows(keys[::-1]).tolist() == [2, 0, 1, 0]
