"""Series are compared with where they stood before they rose."""

import numpy as np

from sentinel.detect.anchors import Anchors
from sentinel.measure.row_space import Rows, RowSpace

ROWS = np.array([0, 1])


class Watch:
    """Two series, with the sums that a caller would keep."""

    def __init__(self) -> None:
        space = RowSpace()
        self.anchors = Anchors(columns=1, space=space)
        space.take(len(ROWS))
        self.seen: list[tuple[list[float], list[float]]] = []
        self.rising = [True, True]

    def step(self, values: list[float], sums: list[float]) -> tuple[list[float], list[bool]]:
        now = np.array([values])

        def compare(place: Rows, anchor: np.ndarray, ticks: np.ndarray) -> np.ndarray:
            if len(place) == len(ROWS):
                self.seen.append((anchor[0].tolist(), ticks.tolist()))
            return now[0, place] - anchor[0]

        witness, anew = self.anchors.step(ROWS, now, compare, np.array(sums), 5.0, np.array(self.rising))
        return witness.tolist(), anew.tolist()


def test_a_series_never_seen_is_compared_with_nothing() -> None:
    watch = Watch()
    assert watch.step([3.0, 1.0], [0.0, 0.0]) == ([3.0, 1.0], [False, False])
    assert watch.seen == [([0.0, 0.0], [np.inf, np.inf])]


def test_outside_of_a_run_the_anchor_is_the_tick_before() -> None:
    watch = Watch()
    watch.step([3.0, 1.0], [0.0, 0.0])
    assert watch.step([4.0, 0.0], [0.0, 0.0]) == ([1.0, -1.0], [False, False])
    assert watch.seen[-1] == ([3.0, 1.0], [1.0, 1.0])


def test_within_a_run_it_stays() -> None:
    watch = Watch()
    for value in (0.0, 0.0):
        watch.step([value, 0.0], [0.0, 0.0])
    assert watch.step([3.0, 0.0], [0.0, 0.0])[0] == [3.0, 0.0]
    assert watch.step([3.0, 0.0], [2.0, 0.0]) == ([3.0, 0.0], [False, False])
    assert watch.step([3.5, 0.0], [4.0, 0.0]) == ([3.5, 0.0], [False, False])


def test_a_run_begins_anew_where_the_last_tick_says_more_than_all_of_it() -> None:
    watch = Watch()
    watch.step([0.0, 0.0], [0.0, 0.0])
    watch.step([1.5, 0.0], [0.0, 0.0])
    watch.step([1.0, 0.0], [0.5, 0.0])
    # From 1 at the last tick to 9: both are clipped to 5, and what the run had counts.
    assert watch.step([9.0, 0.0], [0.5, 0.0])[1] == [False, False]
    watch = Watch()
    watch.step([4.0, 0.0], [0.0, 0.0])
    watch.step([4.0, 0.0], [0.0, 0.0])
    watch.step([0.0, 0.0], [0.1, 0.0])
    # Its anchor is at 4: against that 4.5 is little, against the tick before it is much.
    assert watch.step([4.5, 0.0], [0.1, 0.0]) == ([4.5, 0.0], [True, False])


def test_who_has_no_sum_and_gets_none_is_not_compared() -> None:
    watch = Watch()
    watch.step([3.0, 1.0], [0.0, 0.0])
    watch.rising = [True, False]
    assert watch.step([4.0, 9.0], [0.0, 0.0]) == ([1.0, 0.0], [False, False])
    # With a sum it is, and what it was at the last tick is known all the same.
    assert watch.step([4.0, 9.5], [0.0, 1.0])[0][0] == 0.0
    watch.rising = [True, True]
    assert watch.step([4.0, 10.5], [0.0, 0.0]) == ([0.0, 1.0], [False, False])
