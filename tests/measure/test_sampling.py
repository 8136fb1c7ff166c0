"""How many operations each measured one stands for."""

import numpy as np

from sentinel.measure.labels import Labels
from sentinel.measure.sampling import sampling_scale


def labels(*rows: tuple[int, int]) -> Labels:
    comm, op = np.array(rows, dtype=np.int32).reshape(-1, 2).T
    return Labels(comm=comm, op=op)


def scale(measured: dict[tuple[int, int], float], launched: dict[tuple[int, int], float]) -> list[float]:
    return sampling_scale(
        labels(*measured),
        np.array(list(measured.values())),
        labels(*launched),
        np.array(list(launched.values())),
        *("comm", "op"),
    ).tolist()


def test_launched_over_measured_of_the_same_operation_in_the_same_communicator() -> None:
    measured = {(1, 7): 10.0, (1, 8): 5.0, (2, 7): 4.0}
    assert scale(measured, {(2, 7): 40.0, (1, 7): 20.0, (1, 8): 5.0, (3, 7): 900.0}) == [2.0, 1.0, 10.0]


def test_all_rows_alike_count_together() -> None:
    found = sampling_scale(
        labels((1, 7), (1, 7)), np.array([10.0, 30.0]), labels((1, 7), (1, 7)), np.array([100.0, 20.0]), "comm", "op"
    )
    assert found.tolist() == [3.0, 3.0]


def test_what_was_in_flight_at_the_start_does_not_shrink_anything() -> None:
    assert scale({(1, 7): 10.0}, {(1, 7): 9.0}) == [1.0]


def test_each_stands_for_itself_where_nothing_is_known() -> None:
    assert scale({(1, 7): 10.0}, {(1, 7): np.nan}) == [1.0]
    assert scale({(1, 7): 10.0}, {}) == [1.0]
    assert scale({(1, 7): 0.0}, {(1, 7): 5.0}) == [1.0]
    assert scale({}, {(1, 7): 5.0}) == []
