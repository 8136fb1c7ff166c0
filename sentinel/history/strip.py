"""The columns of one communicator: the last ticks one by one, the time before in bins."""

from collections import deque
from dataclasses import dataclass

from sentinel.history.column import Column, median_column
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
    """Columns in the order of time. The bin that goes on is made of its ticks when it is asked for."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self._ticks: deque[Column] = deque()
        self._bins: deque[Column] = deque()
        self._open: list[Column] = []
        self.nbytes = 0

    @property
    def newest(self) -> float:
        """The time of the newest column; 0 where there is none."""
        return max((columns[-1].time for columns in (self._ticks, self._bins) if columns), default=0.0)

    @property
    def oldest(self) -> float:
        """The time of the oldest column; infinite where there is none."""
        return min((columns[0].time for columns in (self._ticks, self._bins) if columns), default=float("inf"))

    @property
    def last_tick(self) -> Column | None:
        """The newest."""
        return self._ticks[-1] if self._ticks else None

    def ticks(self) -> list[Column]:
        """One by one."""
        return list(self._ticks)

    def bins(self) -> list[Column]:
        """At the end the one that goes on, as of its last tick."""
        if not self._open:
            return list(self._bins)
        return [*self._bins, median_column(self._open[-1].time, self._open)]

    def add(self, column: Column) -> Column | None:
        """Take a tick; the bin that is over with it, if one is. What does not advance in time is left out."""
        if self._ticks and column.time <= self._ticks[-1].time:
            return None
        closed = None
        if self._open and bin_end(column.time) > bin_end(self._open[-1].time):
            closed = median_column(bin_end(self._open[-1].time), self._open)
            self.restore_bin(closed)
            self._open = []
        self._open.append(column)
        self._push(self._ticks, column)
        return closed

    def restore_tick(self, column: Column) -> None:
        """Take a tick that was kept; bins first."""
        self._push(self._ticks, column)
        if not self._bins or column.time > self._bins[-1].time:
            if self._open and bin_end(column.time) > bin_end(self._open[-1].time):
                self._open = []
            self._open.append(column)

    def restore_bin(self, column: Column) -> None:
        """Take a bin that is over."""
        self._push(self._bins, column)

    def forget(self, now: float, span: Span) -> None:
        """Let go of what is too old."""
        while self._ticks and (self._ticks[0].time <= now - span.ticks_seconds or len(self._ticks) > span.most_ticks):
            self._pop(self._ticks)
        while self._bins and self._bins[0].time <= now - span.bins_seconds:
            self._pop(self._bins)

    def forget_oldest(self) -> int:
        """Let go of the oldest column, a bin before a tick; how many went."""
        for columns in (self._bins, self._ticks):
            if columns:
                self._pop(columns)
                return 1
        return 0

    def _push(self, columns: deque[Column], column: Column) -> None:
        columns.append(column)
        self.nbytes += column.nbytes

    def _pop(self, columns: deque[Column]) -> None:
        self.nbytes -= columns.popleft().nbytes
