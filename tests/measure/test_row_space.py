"""Rows that are used again, and what columns hold of them."""

import numpy as np

from sentinel.measure.row_space import Column, RowSpace


def test_retired_rows_are_given_away_first() -> None:
    space = RowSpace()
    assert space.take(4).tolist() == [0, 1, 2, 3]
    space.retire(np.array([2, 0]))
    assert space.live.tolist() == [1, 3]
    assert space.take(3).tolist() == [0, 2, 4]
    assert space.live.tolist() == [0, 1, 2, 3, 4]
    assert len(space) == 5


def test_nothing_is_taken() -> None:
    space = RowSpace()
    assert space.take(0).tolist() == []
    assert len(space) == 0
    assert Column(space, 1.0).values.tolist() == []


def test_a_column_holds_what_was_written_since_a_row_was_given_away() -> None:
    space = RowSpace()
    early = Column(space, np.nan)
    space.take(2)
    late = Column(space, 7, (3,), dtype=np.int32, order="F")
    early[np.array([0, 1])] = [1.0, 2.0]
    late[1] = [4, 5, 6]
    space.retire(np.array([1]))
    assert np.isnan(early[1])
    assert late[1].tolist() == [7, 7, 7]
    space.take(1000)
    assert early[0] == 1.0
    assert np.isnan(early.values[1:]).all()
    assert late.values.shape == (1001, 3)
    assert (late.values == 7).all()
