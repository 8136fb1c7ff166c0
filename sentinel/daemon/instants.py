"""The instants that are looked at: multiples of the tick on the Unix clock, for every daemon and every backtest."""

from datetime import timedelta

from sentinel.config.schedule import ScheduleSettings

__all__ = ["Instants"]


class Instants:
    """Times are Unix seconds; arithmetic is in whole milliseconds: the same instant is always the same number."""

    def __init__(self, settings: ScheduleSettings) -> None:
        self._tick = settings.tick // timedelta(milliseconds=1)
        self._delay = settings.evaluation_delay // timedelta(milliseconds=1)

    @property
    def tick_seconds(self) -> float:
        """From one instant to the next."""
        return self._tick / 1000

    def latest(self, now: float) -> float:
        """The newest instant whose evaluation delay is over."""
        return (round(now * 1000) - self._delay) // self._tick * self._tick / 1000

    def due(self, instant: float) -> float:
        """When to look at an instant."""
        return (round(instant * 1000) + self._delay) / 1000

    def after(self, instant: float, count: int = 1) -> float:
        """The instant `count` ticks later; earlier when it is negative."""
        return (round(instant * 1000) + count * self._tick) / 1000

    def between(self, earlier: float, later: float) -> int:
        """How many ticks one instant is after the other."""
        return (round(later * 1000) - round(earlier * 1000)) // self._tick

    def within(self, start: float, end: float) -> tuple[float, float]:
        """The first and the last instant of a range; the first is later when there is none in it."""
        first = -(-round(start * 1000) // self._tick) * self._tick
        last = round(end * 1000) // self._tick * self._tick
        return first / 1000, last / 1000
