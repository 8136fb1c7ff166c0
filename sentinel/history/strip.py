"""The last ticks of one communicator, and the bins that are made of them."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from sentinel.history.column import Column, Said, median_column, said_in
from sentinel.history.held import HeldColumn
from sentinel.history.roster import Roster

__all__ = ["BIN_SECONDS", "Span", "Strip", "bin_end"]

BIN_SECONDS = 300.0


@dataclass(frozen=True)
class Span:
    """How long ticks and bins are kept. There are at most `most_ticks` of them, however short a tick is."""

    ticks_seconds: float = 3600.0
    bins_seconds: float = 86_400.0
    most_ticks: int = 360


def bin_end(time: float) -> float:
    """The end of the bin that holds the window ending at a Unix time; bins are aligned on the Unix clock."""
    return -(-time // BIN_SECONDS) * BIN_SECONDS


class Strip:
    """Ticks in the order of time. `closed_until`: the end of the newest bin that was given out; Unix seconds."""

    def __init__(self, roster: Roster, closed_until: float = 0.0) -> None:
        self.roster = roster
        self._closed_until = closed_until
        self._ticks: deque[HeldColumn] = deque()
        self.nbytes = 0

    @property
    def oldest(self) -> float:
        """The time of the oldest tick; infinite where there is none."""
        return self._ticks[0].time if self._ticks else float("inf")

    @property
    def last_tick(self) -> HeldColumn | None:
        """The newest."""
        return self._ticks[-1] if self._ticks else None

    def ticks(self) -> list[Column]:
        """One by one."""
        return [each.column for each in self._ticks]

    def bins(self) -> list[Column]:
        """Of the ticks that are there; at the end the one that goes on, as of its last tick."""
        return [_median(time, ticks) for time, ticks in self._binned(0.0)]

    def said(self, ticks: bool) -> list[Said]:
        """Ticks or bins, without what was measured."""
        if ticks:
            return [each.said for each in self._ticks]
        return [said_in(time, [each.said for each in held]) for time, held in self._binned(0.0)]

    def finished(self) -> list[Column]:
        """Bins that are over, of the ticks that are there, whether given out or not."""
        return [_median(time, ticks) for time, ticks in self._binned(0.0) if time <= self._closed_until]

    def add(self, column: Column) -> list[Column]:
        """Take a tick; the bins that are over with it. What does not advance in time is left out."""
        if self._ticks and column.time <= self._ticks[-1].time:
            return []
        closed = self.close(column.time)
        self.restore(column)
        return closed

    def close(self, now: float) -> list[Column]:
        """Bins that were not given out yet and are over at a Unix time."""
        last = self.last_tick
        if last is None or last.time <= self._closed_until or bin_end(last.time) >= bin_end(now):
            return []
        closed = [_median(bin_end(time), ticks) for time, ticks in self._binned(self._closed_until)]
        self._closed_until = bin_end(last.time)
        return closed

    def restore(self, column: Column) -> None:
        """Take a tick that was kept."""
        held = HeldColumn.of(column)
        self._ticks.append(held)
        self.nbytes += held.nbytes

    def forget(self, now: float, span: Span) -> None:
        """Let go of what is too old."""
        while self._ticks and (self._ticks[0].time <= now - span.ticks_seconds or len(self._ticks) > span.most_ticks):
            self.forget_oldest()

    def forget_oldest(self) -> None:
        """Let go of the oldest tick."""
        self.nbytes -= self._ticks.popleft().nbytes

    def _binned(self, since: float) -> Iterator[tuple[float, list[HeldColumn]]]:
        """Bins of the ticks after a Unix time, by their end: of the one that goes on, its last tick."""
        for end, ticks in groupby((each for each in self._ticks if each.time > since), lambda each: bin_end(each.time)):
            held = list(ticks)
            goes_on = end > self._closed_until and held[-1] is self._ticks[-1]
            yield (held[-1].time if goes_on else end), held


def _median(time: float, ticks: list[HeldColumn]) -> Column:
    return median_column(time, [each.column for each in ticks])
