"""The machine's clock was set: which time it is, the metrics store knows."""

import structlog

from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.deadline import Abandoned, Deadline
from sentinel.daemon.instants import Instants
from sentinel.errors import SentinelError
from sentinel.source.interface import Source

__all__ = ["ClockSteps"]

_log = structlog.get_logger()


class ClockSteps:
    """Tells whether a clock that was stepped is to be followed.

    Series carry the store's time, and what is asked for is asked by that time: where there are series of now, is now.
    """

    def __init__(self, clock: SteadyClock, source: Source, instants: Instants, deadline: Deadline) -> None:
        self._clock = clock
        self._source = source
        self._instants = instants
        self._deadline = deadline

    def follow(self, seen: float | None) -> bool:
        """Whether `clock` was made to follow: the store has series of that time, and none of a later one.

        `seen` is the last instant of which there were any: a time before that has been.
        """
        stepped = self._clock.stepped_to()
        if stepped is None:
            return False
        seconds = stepped - self._clock()
        try:
            followed = self._is_now(stepped, seconds, seen)
        except (SentinelError, Abandoned) as error:
            text = str(error)
            _log.warning("the machine's clock was set, and nobody says which time it is", seconds=seconds, error=text)
            return False
        if not followed:
            _log.warning("the machine's clock was set, and is not followed: the series say otherwise", seconds=seconds)
            return False
        self._clock.adopt()
        _log.warning("the machine's clock was set, and is followed", seconds=seconds)
        return True

    def _is_now(self, stepped: float, seconds: float, seen: float | None) -> bool:
        there, here = self._instants.latest(stepped), self._instants.latest(stepped - seconds)
        if seen is not None and there <= seen:
            return False
        if seconds < 0 and self._anything_at(here, -seconds):
            return False
        return self._anything_at(there, abs(seconds))

    def _anything_at(self, instant: float, seconds: float) -> bool:
        """Whether the store has samples of that instant, and not only what it still shows from before the step."""
        self._deadline.start()
        try:
            newest = self._source.snapshot(instant).newest_sample
        finally:
            self._deadline.stop()
        return newest is not None and newest > instant - seconds / 2
