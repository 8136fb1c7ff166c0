import os
import signal

import pytest

from sentinel.top.wakeup import Wakeup


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)], ids=["int", "term"]
)
def test_an_end_waits_while_a_terminal_is_taken_and_given_back(
    number: signal.Signals, raised: type[BaseException]
) -> None:
    before = signal.getsignal(number)
    with Wakeup() as wakeup:
        send(number)
        with pytest.raises(raised):
            wakeup.release()
        send(number)  # pressed again: not in the middle of giving it back
        send(number)
    assert signal.getsignal(number) is before
    with Wakeup() as wakeup:
        wakeup.release()
        with pytest.raises(raised):
            send(number)
        wakeup.hold()
        send(number)


def test_what_comes_after_its_end_wakes_nobody() -> None:
    with Wakeup() as wakeup:
        wakeup()
        wakeup.clear()
    wakeup()
