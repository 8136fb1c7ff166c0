"""The strips of all communicators, bounded in bytes; for many threads."""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sentinel.history.column import Column, RankMeans, measure_ranks
from sentinel.history.look import Look
from sentinel.history.moment import Moment
from sentinel.history.roster import Roster
from sentinel.history.strip import Span, Strip
from sentinel.measure.membership import Communicator, Membership, MembershipReader
from sentinel.model.incident import Finding

__all__ = ["Added", "Record"]


@dataclass(frozen=True)
class Added:
    """What one tick added to a communicator. `roster` is None where it is as before, `closed` where no bin ended."""

    comm: str
    tick: Column
    closed: Column | None
    roster: Roster | None


class Record:
    """What there is to show. What is past `max_bytes` goes, the oldest first, and is counted in `dropped` as `full`."""

    def __init__(self, span: Span, max_bytes: int, dropped: Counter[str] | None = None) -> None:
        self.span = span
        self.max_bytes = max_bytes
        self.dropped = Counter[str]() if dropped is None else dropped
        self.moment: Moment | None = None
        self._strips: dict[str, Strip] = {}
        self._members = MembershipReader()
        self._last: Membership | None = None
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Size of all arrays."""
        with self._lock:
            return sum(strip.nbytes for strip in self._strips.values())

    def communicators(self) -> list[Roster]:
        """All of which something is kept."""
        with self._lock:
            return [strip.roster for strip in self._strips.values()]

    def columns(self, comm: str, ticks: bool) -> tuple[Roster, list[Column]] | None:
        """Of one communicator, ticks or bins; None where it is not known."""
        with self._lock:
            strip = self._strips.get(comm)
            if strip is None:
                return None
            return strip.roster, strip.ticks() if ticks else strip.bins()

    def take(self, look: Look) -> list[Added]:
        """What one tick saw."""
        membership = self._members.read(look.snapshot)
        measured = {} if look.lateness is None else measure_ranks(look.lateness)
        findings = _by_communicator(look.assessment.findings)
        time, added = look.snapshot.time, []
        with self._lock:
            for code, communicator in membership.communicators.items():
                strip, roster = self._strip(communicator, membership)
                state = look.assessment.states.get(communicator.id, "unknown")
                means = _sharing(measured.get(code, RankMeans.empty()), strip)
                column = Column(time, state, findings.get(communicator.id, 0), means)
                added.append(Added(communicator.id, column, strip.add(column), roster))
            self._last = membership
            self._forget(time)
        self.moment = Moment.of(
            time,
            look.assessment.judged,
            membership,
            look.assessment.states,
            look.snapshot.quality,
            look.incidents,
        )
        return added

    def restore(
        self, rosters: Iterable[Roster], bins: Iterable[tuple[str, Column]], ticks: Iterable[tuple[str, Column]]
    ) -> None:
        """What was kept, in the order of time; before anything is taken."""
        newest = 0.0
        with self._lock:
            for roster in rosters:
                self._strips.setdefault(roster.comm, Strip(roster))
            for comm, column in bins:
                if comm in self._strips:
                    self._strips[comm].restore_bin(column)
                    newest = max(newest, column.time)
            for comm, column in ticks:
                if comm in self._strips:
                    self._strips[comm].restore_tick(column)
                    newest = max(newest, column.time)
            self._forget(newest)

    def _strip(self, communicator: Communicator, membership: Membership) -> tuple[Strip, Roster | None]:
        """Its strip, and its roster where that has changed."""
        strip = self._strips.get(communicator.id)
        if strip is None:
            roster = Roster.of(communicator)
            strip = self._strips[communicator.id] = Strip(roster)
            return strip, roster
        if self._last is membership:
            return strip, None
        roster = Roster.of(communicator, strip.roster)
        if roster == strip.roster:
            return strip, None
        strip.roster = roster
        return strip, roster

    def _forget(self, now: float) -> None:
        for comm, strip in list(self._strips.items()):
            strip.forget(now, self.span)
            if strip.newest <= now - self.span.bins_seconds:
                del self._strips[comm]
        total = sum(strip.nbytes for strip in self._strips.values())
        while total > self.max_bytes:
            oldest = min(strip.oldest for strip in self._strips.values())
            for comm, strip in list(self._strips.items()):
                if strip.oldest <= oldest:
                    self.dropped["full"] += strip.forget_oldest()
                    if strip.oldest == float("inf"):
                        del self._strips[comm]
            total = sum(strip.nbytes for strip in self._strips.values())


def _by_communicator(findings: Iterable[Finding]) -> dict[str, int]:
    count: dict[str, int] = {}
    for finding in findings:
        count[finding.culprit.comm] = count.get(finding.culprit.comm, 0) + 1
    return count


def _sharing(means: RankMeans, strip: Strip) -> RankMeans:
    """The same with the array of ranks of the tick before, where it is the same: kept once, not a thousand times."""
    last = strip.last_tick
    if last is not None and np.array_equal(last.means.ranks, means.ranks):
        return RankMeans(last.means.ranks, means.lateness_seconds, means.duration_seconds)
    return means
