import queue
import threading
import time

from sentinel.daemon.tally import Tally
from sentinel.daemon.timetable import Timetable


def test_ticks_come_when_they_are_due_and_an_overlong_one_is_skipped_over() -> None:
    due: queue.SimpleQueue[threading.Event | None] = queue.SimpleQueue()
    tally = Tally()
    first = time.time() + 0.2
    timetable = Timetable(first, 0.25, tally, due)
    timetable.start()
    try:
        done = due.get(timeout=10)
        assert done is not None
        assert time.time() >= first
        deadline = time.monotonic() + 10
        while tally.runs_skipped < 2 and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert tally.runs_skipped >= 2
        assert due.empty()  # the one that goes on is the only one
        done.set()
        after = due.get(timeout=10)
        assert after is not None
        after.set()
    finally:
        timetable.stop()


def test_stopping_does_not_wait_for_the_tick_that_goes_on() -> None:
    due: queue.SimpleQueue[threading.Event | None] = queue.SimpleQueue()
    timetable = Timetable(time.time() + 0.1, 0.2, Tally(), due)
    timetable.start()
    done = due.get(timeout=10)
    began = time.monotonic()
    timetable.stop()
    assert time.monotonic() - began < 1.0
    assert done is not None
    assert done.wait(1.0)  # so that its thread ends
