import numpy as np

from sentinel.detect.block_history import BLOCKS, BlockHistory
from sentinel.measure.row_space import RowSpace

HORIZON = 6400.0  # a block is 100 s


def rows_of(count: int) -> BlockHistory:
    space = RowSpace()
    space.take(count)
    return BlockHistory(HORIZON, space)


def fill(history: BlockHistory, start: float, end: float, value: float, tick: float = 10.0, row: int = 0) -> int:
    times = np.arange(start, end, tick)
    return sum(history.add(np.array([row]), np.array([value]), float(time)) for time in times)


def test_a_block_is_the_median_of_its_parts() -> None:
    history = rows_of(1)
    for number, value in enumerate([1.0, 2.0, 3.0, 1000.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]):
        assert not history.add(np.array([0]), np.array([value]), 10.0 * number)
    assert history.add(np.array([0]), np.array([0.0]), 100.0)
    assert history.closed()[0, -1] == 6.5
    assert np.isnan(history.closed()[0, :-1]).all()
    assert history.end() == 100.0


def test_ticks_that_come_faster_than_parts_are_averaged() -> None:
    history = rows_of(1)
    for number in range(101):
        history.add(np.array([0]), np.array([float(number % 2)]), float(number))
    assert 0.4 < history.closed()[0, -1] < 0.6


def test_the_oldest_makes_room() -> None:
    history = rows_of(1)
    for block in range(100):
        fill(history, 100.0 * block, 100.0 * (block + 1), float(block))
    history.add(np.array([0]), np.array([0.0]), 10_000.0)
    assert history.closed()[0].tolist() == list(map(float, range(36, 100)))


def test_what_nobody_measured_is_not_known() -> None:
    history = rows_of(1)
    fill(history, 0.0, 500.0, 1.0)
    assert fill(history, 800.0, 900.0, 2.0) == 1
    fill(history, 900.0, 910.0, 3.0)
    values = history.closed()[0]
    assert values[-9:-4].tolist() == [1.0] * 5
    assert np.isnan(values[-4:-1]).all()
    assert values[-1] == 2.0
    fill(history, 900.0 + 3 * HORIZON, 1000.0 + 3 * HORIZON, 4.0)
    assert np.isnan(history.closed()).all()


def test_series_come_later_and_are_forgotten() -> None:
    space = RowSpace()
    history = BlockHistory(HORIZON, space)
    space.take(1)
    fill(history, 0.0, 100.0, 1.0)
    space.take(5)
    fill(history, 100.0, 210.0, 2.0, row=5)
    values = history.closed()
    assert values.shape == (6, BLOCKS)
    assert np.isfinite(values).sum() == 2
    assert (values[0, -2], values[5, -1]) == (1.0, 2.0)
    space.retire(np.array([5]))
    assert np.isfinite(history.closed()).sum() == 1
    assert space.take(1).tolist() == [5]
    assert fill(history, 210.0, 310.0, 7.0, row=5) == 1
    assert history.closed()[5, -1] == 7.0
