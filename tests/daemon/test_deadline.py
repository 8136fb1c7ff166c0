"""Real alarms, over work that hangs in each way that it can."""

import signal
import socket
import threading
import time
from collections.abc import Callable

import pytest

from sentinel.daemon.deadline import Abandoned, Deadline


def spin() -> None:
    while True:
        pass


def read_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.accept()


def catch_everything() -> None:
    while True:
        try:
            spin()
        except Exception:
            pytest.fail("an error of its own")


class Stubborn:
    """Hangs as it is thrown away, where an exception goes no further."""

    def __del__(self) -> None:
        spin()


def destroy() -> None:
    stubborn = Stubborn()
    del stubborn
    spin()


@pytest.mark.parametrize("work", [spin, read_for_ever, catch_everything])
def test_what_hangs_is_abandoned(work: Callable[[], None]) -> None:
    deadline = Deadline(0.05)
    deadline.start()
    with pytest.raises(Abandoned):
        work()
    deadline.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_was_swallowed_is_rung_again() -> None:
    deadline = Deadline(0.05)
    deadline.start()
    with pytest.raises(Abandoned):
        destroy()
    deadline.stop()


def test_what_ends_in_time_hears_nothing_and_the_alarm_is_as_before() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: heard.append(number))
    left, interval = signal.setitimer(signal.ITIMER_REAL, 60.0)
    try:
        deadline = Deadline(30.0)
        deadline.start()
        deadline.stop()
        deadline.stop()
        assert 50.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60.0
        signal.raise_signal(signal.SIGALRM)
        assert heard == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, before)


def test_in_another_thread_it_does_nothing() -> None:
    ended = threading.Event()

    def work() -> None:
        deadline = Deadline(0.01)
        deadline.start()
        time.monotonic()
        deadline.stop()
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended.is_set()
