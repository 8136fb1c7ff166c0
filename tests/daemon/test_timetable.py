import queue
import threading
import time

from sentinel.daemon.inbox import Inbox
from sentinel.daemon.tally import Tally
from sentinel.daemon.timetable import Timetable


def test_ticks_come_when_they_are_due_and_an_overlong_one_is_skipped_over() -> None:
    due: Inbox = queue.SimpleQueue()
    tally = Tally()
    first = time.time() + 0.2
    timetable = Timetable(0.2, 0.25, tally, due)
    timetable.start()
    try:
        done = due.get(timeout=10)
        assert isinstance(done, threading.Event)
        assert time.time() >= first
        deadline = time.monotonic() + 10
        while tally.runs_skipped < 2 and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert tally.runs_skipped >= 2
        assert due.empty()  # the one that goes on is the only one
        done.set()
        after = due.get(timeout=10)
        assert isinstance(after, threading.Event)
        after.set()
    finally:
        timetable.stop()


def test_stopping_does_not_wait_for_the_tick_that_goes_on() -> None:
    due: Inbox = queue.SimpleQueue()
    timetable = Timetable(0.1, 0.2, Tally(), due)
    timetable.start()
    done = due.get(timeout=10)
    began = time.monotonic()
    timetable.stop()
    assert time.monotonic() - began < 1.0
    assert isinstance(done, threading.Event)
    assert done.wait(1.0)  # so that its thread ends
