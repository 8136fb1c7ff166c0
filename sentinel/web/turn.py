"""Work for clients, beside the tick that has the same interpreter."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Turn"]

_T = TypeVar("_T")


class Turn:
    """One at a time, and for at most `share` of the time: however many ask, the tick keeps the rest.

    `cpu_clock` measures the work, `clock` the rest after it; both in seconds.
    """

    def __init__(
        self,
        share: float = 0.2,
        cpu_clock: Callable[[], float] = time.thread_time,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rest_factor = 1.0 / share - 1.0
        self._cpu_clock = cpu_clock
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._rests_until = clock()

    def take(self, work: Callable[[], _T]) -> _T:
        """What `work` gives, when it is its turn."""
        with self._lock:
            wait = self._rests_until - self._clock()
            if wait > 0.0:
                self._sleep(wait)
            began = self._cpu_clock()
            try:
                return work()
            finally:
                self._rests_until = self._clock() + (self._cpu_clock() - began) * self._rest_factor
