"""Numbering of rows against the plain definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.groups import Groups, group_rows

KEYS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**31 - 1), st.integers(0, 5)), max_size=40)


@given(KEYS)
def test_rows_are_numbered_in_the_order_of_their_keys(keys: list[tuple[int, int, int]]) -> None:
    table = np.array(keys, dtype=np.int32).reshape(-1, 3)
    number, row = group_rows(*table.T)
    unique = sorted(set(keys))
    assert [unique[each] for each in number.tolist()] == keys
    assert [keys[each] for each in row.tolist()] == unique


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_every_row_is_in_one_block(numbers: list[int]) -> None:
    group, _ = group_rows(np.array(numbers))
    groups = Groups.of_rows(group)
    seen = {}
    for block, rows in groups.blocks:
        for each, mine in zip(block.tolist(), rows.tolist(), strict=True):
            assert group[mine].tolist() == [each] * groups.size[each]
            seen |= dict.fromkeys(mine, each)
    assert seen == dict(enumerate(group.tolist()))
