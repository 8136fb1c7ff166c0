"""Row numbers of series."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.index import SeriesIndex
from sentinel.measure.row_space import Column

KEYS = st.lists(st.lists(st.tuples(st.integers(-2, 3), st.integers(0, 2**31 - 1)), max_size=12), max_size=6)
SOME = st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3)), max_size=12)
EVENTS = st.lists(st.one_of(SOME, st.sets(st.integers(-1, 4), max_size=3)), max_size=12)  # keys, or codes to forget


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


@given(EVENTS)
def test_what_is_forgotten_leaves_nothing_to_whoever_has_its_row_next(
    events: list[list[tuple[int, int]] | set[int]],
) -> None:
    index = SeriesIndex()
    columns = [Column(index, np.nan), Column(index, np.nan, (2,), dtype=np.float32, order="F")]
    expected, asked, most = dict[tuple[int, int], float](), list[tuple[int, int]](), 0
    arrays = [np.empty(0, dtype=np.int32)] * 2
    for number, event in enumerate(events):
        if isinstance(event, set):
            index.forget(event)
            expected = {key: value for key, value in expected.items() if key[0] not in event}
            # The same arrays again, as of a tick in which no series has changed.
        else:
            asked, arrays = event, [np.array([key[at] for key in event], dtype=np.int32) for at in range(2)]
        rows = index.rows(*arrays)
        assert index.keys(rows) == asked
        assert len(set(rows.tolist())) == len(set(asked))
        known = np.array([expected.get(key, np.nan) for key in asked])
        np.testing.assert_array_equal(columns[0][rows], known)
        np.testing.assert_array_equal(columns[1][rows], np.stack([known, known], axis=1))
        for column in columns:
            column[rows] = float(number)
        expected |= dict.fromkeys(asked, float(number))
        most = max(most, len(expected))
        assert sorted(index.keys(index.live)) == sorted(expected)
        assert len(index) == most


def test_forgetting_what_is_not_known_changes_nothing() -> None:
    index = SeriesIndex()
    index.forget({3})
    first = index.rows(np.array([4, 1], dtype=np.int32))
    index.forget({3})
    index.forget(())
    assert index.rows(np.array([1, 4], dtype=np.int32)).tolist() == first[::-1].tolist() == [1, 0]
