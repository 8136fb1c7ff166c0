import threading

import pytest

from sentinel.web.turn import Turn


class Clock:
    """Wall and CPU time of our own; sleeping passes it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.cpu = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def work(self, seconds: float) -> str:
        self.now += seconds
        self.cpu += seconds
        return "done"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turn(clock: Clock) -> Turn:
    return Turn(0.25, lambda: clock.cpu, lambda: clock.now, clock.sleep)


def test_work_takes_no_more_than_its_share(turn: Turn, clock: Clock) -> None:
    for _ in range(10):
        assert turn.take(lambda: clock.work(1.0)) == "done"
    assert clock.slept == pytest.approx([3.0] * 9)


def test_who_comes_later_does_not_wait(turn: Turn, clock: Clock) -> None:
    turn.take(lambda: clock.work(1.0))
    clock.now += 3.0
    turn.take(lambda: clock.work(1.0))
    assert clock.slept == []


def test_work_that_fails_counts_as_well(turn: Turn, clock: Clock) -> None:
    def fail() -> None:
        clock.work(2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        turn.take(fail)
    turn.take(lambda: clock.work(1.0))
    assert clock.slept == pytest.approx([6.0])


def test_one_at_a_time() -> None:
    turn, inside, most = Turn(1.0), [0], [0]
    overlap = threading.Barrier(4)

    def work() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        inside[0] -= 1

    def ask() -> None:
        overlap.wait()
        for _ in range(200):
            turn.take(work)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
