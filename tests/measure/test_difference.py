"""What counters gained, of series that come and go."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.difference import Difference

TICKS = st.lists(
    st.dictionaries(st.tuples(st.integers(-2, 3), st.integers(0, 2**31 - 1)), st.integers(0, 9), max_size=8),
    max_size=8,
)


@given(TICKS)
def test_gains_are_since_the_instant_before_and_of_the_same_series(ticks: list[dict[tuple[int, int], int]]) -> None:
    difference, before = Difference(2), dict[tuple[int, int], int]()
    for now in ticks:
        keys = np.array(list(now), dtype=np.int32).reshape(-1, 2)
        values = np.array(list(now.values()), dtype=float)
        gain = difference.step((keys[:, 0], keys[:, 1]), (values, -values))
        expected = np.array([value - before.get(key, np.nan) for key, value in now.items()], dtype=float)
        np.testing.assert_array_equal(gain, np.stack([expected, -expected]))
        before = now


def test_what_the_caller_does_with_its_values_afterwards_does_not_matter() -> None:
    difference, keys = Difference(1), (np.array([5], dtype=np.int32),)
    values = np.array([3.0])
    assert np.isnan(difference.step(keys, (values,))).all()
    values[:] = 100.0
    assert difference.step(keys, (np.array([4.0]),)).tolist() == [[1.0]]
