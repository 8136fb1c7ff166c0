"""Work that hangs is abandoned."""

import signal
import threading
from types import FrameType
from typing import Any, Final

__all__ = ["Abandoned", "Deadline"]

# Rung again as long as nothing has come of it: an exception raised in a destructor is swallowed.
_AGAIN_SECONDS: Final = 1.0


class Abandoned(BaseException):
    """Raised in the work that took too long, wherever it is: no error, that nobody between catches it."""


class Deadline:
    """An alarm over work in the main thread; elsewhere it does nothing (ADR 11).

    `start` before the work and `stop` after it; `stop` may be called more often. Whoever else uses the process's alarm
    finds it as it was.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._armed = False
        self._before: Any = None
        self._left_seconds = 0.0

    def start(self) -> None:
        """From now on."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.stop()
        self._before = signal.signal(signal.SIGALRM, self._ring)
        self._armed = True
        self._left_seconds, _ = signal.setitimer(signal.ITIMER_REAL, self.seconds, _AGAIN_SECONDS)

    def stop(self) -> None:
        """The work is done, or given up."""
        if self._armed:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, self._left_seconds)
            signal.signal(signal.SIGALRM, self._before)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise Abandoned
