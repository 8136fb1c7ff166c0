"""How much of its time a job is inside operations."""

import numpy as np
import pytest

from sentinel.measure.labels import Labels
from sentinel.measure.operation_time import operation_ratio
from sentinel.measure.window import Progress, Window
from sentinel.model.snapshot import PeerTable

NAMES = ("comm", "rank", "op")
Rows = list[tuple[int, int, int, float, float]]  # comm, rank, op, operations, seconds
Launched = list[tuple[int, int, int, float]]


def ratios(collectives: Rows, messages: Rows, launched: Launched, comm: list[int]) -> list[float]:
    def columns(rows: list, width: int) -> list[np.ndarray]:
        return [np.array([row[at] for row in rows]) for at in range(width)]

    c, m, p = columns(collectives, 5), columns(messages, 5), columns(launched, 4)
    codes = [each.astype(np.int32) for each in (*c[:3], *m[:3], *p[:3])]
    progress = Progress(Labels(**dict(zip(NAMES, codes[6:], strict=True))), p[3], p[3])
    window = Window(0.0, 2.0, Labels(**dict(zip(NAMES, codes[:3], strict=True))), c[3], c[4], c[4], progress, 0)
    table = PeerTable(*codes[3:6], codes[4], m[3], m[4])
    return operation_ratio(window, table, np.array(comm, dtype=np.int32)).tolist()


def test_the_average_rank_inside_all_its_operations() -> None:
    rows: Rows = [(1, 0, 7, 10.0, 0.4), (1, 1, 7, 10.0, 0.6), (1, 0, 8, 5.0, 0.2), (1, 1, 8, 5.0, 0.2)]
    assert ratios(rows, [], [], [1, 2]) == pytest.approx([0.35, 0.0])


def test_sends_and_receives_count() -> None:
    assert ratios([(1, 0, 7, 10.0, 0.4)], [(3, 0, 9, 10.0, 1.0)], [], [1, 3]) == pytest.approx([0.2, 0.5])


def test_what_sampling_left_out_is_scaled_up() -> None:
    launched: Launched = [(1, 0, 7, 40.0), (1, 1, 7, 40.0)]
    assert ratios([(1, 0, 7, 10.0, 0.1), (1, 1, 7, 10.0, 0.1)], [], launched, [1]) == pytest.approx([0.2])


def test_it_is_never_more_than_all_of_it() -> None:
    assert ratios([(1, 0, 7, 10.0, 0.4)], [], [(1, 0, 7, 1000.0)], [1]) == [1.0]


def test_nothing_measured() -> None:
    assert ratios([], [], [(1, 0, 7, 5.0)], [1]) == [0.0]
