"""Unix time that does not jump when the machine's clock is set."""

import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["TOLERANCE_SECONDS", "SteadyClock", "boot_seconds"]

TOLERANCE_SECONDS: Final = 2.0
"""What the machine's clock may gain or lose between two readings before it has been stepped. It is slewed by less."""


def boot_seconds() -> float:
    """Seconds since the machine was started, those in which it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class SteadyClock:
    """Follows the machine's clock, `wall`, while that goes on steadily; after a step it goes on as if there was none.

    Which of the two is right then it cannot know: whoever does calls `adopt`. `elapsed` gives seconds that only grow.
    For several threads.
    """

    def __init__(self, wall: Callable[[], float], elapsed: Callable[[], float] = boot_seconds) -> None:
        self._wall = wall
        self._elapsed = elapsed
        self._ahead = wall() - elapsed()
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """Unix seconds."""
        with self._lock:
            return self._now()

    def stepped_to(self) -> float | None:
        """What the machine's clock says, where that is another time."""
        now, wall = self(), self._wall()
        return None if abs(wall - now) <= TOLERANCE_SECONDS else wall

    def adopt(self) -> None:
        """Go on from what the machine's clock says."""
        with self._lock:
            self._ahead = self._wall() - self._elapsed()

    def not_before(self, time: float) -> None:
        """Go on from `time`, where it is earlier than that: so late it has been already."""
        with self._lock:
            self._ahead += max(0.0, time - self._now())

    def _now(self) -> float:
        wall, elapsed = self._wall(), self._elapsed()
        if abs(wall - elapsed - self._ahead) <= TOLERANCE_SECONDS:
            self._ahead = wall - elapsed
        return elapsed + self._ahead
