"""What there is to show: the last hour from memory, and the bins before it from the file, when somebody asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel.errors import StateError
from sentinel.history.archive_file import told
from sentinel.history.column import Column, Said
from sentinel.history.moment import Moment
from sentinel.history.reader import ArchiveReader, Loudness
from sentinel.history.record import Record
from sentinel.history.roster import Name, Roster
from sentinel.history.strip import bin_end

__all__ = ["Columns", "Past", "Signals"]


@dataclass(frozen=True)
class Columns:
    """Of one communicator, in the order of time."""

    roster: Roster
    columns: Sequence[Column]


@dataclass(frozen=True)
class Signals:
    """What was said of communicators, those with most to say first. `fault`: why some may be missing, else empty."""

    communicators: Sequence[tuple[Name, Sequence[Said]]]
    left_out: int
    fault: str


class Past:
    """For many threads. Where the file lacks a bin, or cannot be read, it is made of the ticks that are in memory.

    `directory` holds the file. Before the first tick it is not touched: nothing is known.
    """

    def __init__(self, record: Record, directory: Path) -> None:
        self._record = record
        self._reader = ArchiveReader(directory)

    def knows(self, comm: str) -> tuple[bool, str]:
        """Whether anything of a communicator is kept; and why that may be unknown, else empty."""
        if self._record.has(comm):
            return True, ""
        roster, fault = self._roster(comm)
        return roster is not None, fault

    def columns(self, comm: str, ticks: bool) -> tuple[Columns | None, str]:
        """Ticks or bins of one communicator, None where nothing is kept; and why some may be missing, else empty."""
        held, moment = self._record.columns(comm, ticks), self._record.moment
        if moment is None or (ticks and held is not None):
            return (None if held is None else Columns(*held)), ""
        roster, fault = (held[0], self._record.fault) if held is not None else self._roster(comm)
        if ticks or roster is None:
            return (None if roster is None else Columns(roster, [])), fault
        before: list[Column] = []
        try:
            before = self._reader.bins(comm, self._since(moment))
        except StateError as error:
            fault = self._record.fault or told(error)
        # A bin may have ended since memory was looked at, where it still went on.
        there = {each.time for each in before}
        columns = [*before, *(each for each in (held[1] if held else ()) if bin_end(each.time) not in there)]
        return Columns(roster, sorted(columns, key=lambda each: each.time)), fault

    def said(self, ticks: bool, most: int) -> Signals:
        """Of at most `most` communicators, in ticks or bins."""
        held = {roster.comm: (roster.name, said) for roster, said in self._record.said(ticks)}
        before: list[Loudness] = []
        moment, fault, since = self._record.moment, "", 0.0
        if not ticks and moment is not None:
            fault, since = self._record.fault, self._since(moment)
            try:
                before = self._reader.loudness(since)
            except StateError as error:
                fault = self._record.fault or told(error)
        loud = {each.name.comm: each.loud for each in before}
        newest = {each.name.comm: each.newest for each in before}
        names = {each.name.comm: each.name for each in before}
        for comm, (name, said) in held.items():
            names[comm] = name
            loud[comm] = loud.get(comm, 0) + sum(each.loud for each in said if each.time > newest.get(comm, 0.0))
        order = sorted(
            names.values(), key=lambda each: (-loud[each.comm], each.job_id, -each.nranks, each.comm_name, each.comm)
        )
        chosen = order[:most]
        earlier: dict[str, list[Said]] = {}
        if before:
            try:
                earlier = self._reader.said(frozenset(each.comm for each in chosen), since)
            except StateError as error:
                fault = self._record.fault or told(error)
        found = []
        end = float if ticks else bin_end  # the key of a column, also of a bin that goes on
        for name in chosen:
            columns = {end(each.time): each for each in held[name.comm][1]} if name.comm in held else {}
            columns |= {each.time: each for each in earlier.get(name.comm, ())}
            if columns:
                found.append((name, [columns[time] for time in sorted(columns)]))
        return Signals(found, len(order) - len(chosen), fault)

    def _roster(self, comm: str) -> tuple[Roster | None, str]:
        if self._record.moment is None:
            return None, ""
        try:
            return self._reader.roster(comm), self._record.fault
        except StateError as error:
            return None, self._record.fault or told(error)

    def _since(self, moment: Moment) -> float:
        return moment.time - self._record.span.bins_seconds
