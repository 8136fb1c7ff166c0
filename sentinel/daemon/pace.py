"""Whether ticks come as they should, by a clock that nobody sets."""

from collections.abc import Callable
from typing import Final

__all__ = ["Pace"]

_LOST_TICKS: Final = 2.0
_OVERDUE_TICKS: Final = 3.0


class Pace:
    """How long ago the last tick ended, in ticks. `monotonic` gives seconds that only grow."""

    def __init__(self, tick_seconds: float, monotonic: Callable[[], float]) -> None:
        self._tick_seconds = tick_seconds
        self._monotonic = monotonic
        self._ended = monotonic()

    def ticked(self) -> None:
        """One has ended."""
        self._ended = self._monotonic()

    @property
    def lost(self) -> bool:
        """Whether none comes any more: whoever calls them is to be replaced."""
        return self._silent_seconds >= _LOST_TICKS * self._tick_seconds

    @property
    def keeps(self) -> bool:
        """Whether the service manager may be told that all is well: none is more than this overdue."""
        return self._silent_seconds < _OVERDUE_TICKS * self._tick_seconds

    def wait_seconds(self, most_seconds: float | None) -> float:
        """How long to wait for the next one before it is to be looked again whether they come."""
        left = max(0.0, _LOST_TICKS * self._tick_seconds - self._silent_seconds)
        return left if most_seconds is None else min(left, most_seconds)

    @property
    def _silent_seconds(self) -> float:
        return self._monotonic() - self._ended
