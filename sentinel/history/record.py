"""The last ticks of all communicators, bounded in bytes; for many threads."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentinel.history.column import Column, RankMeans, Said, measure_ranks
from sentinel.history.look import Look
from sentinel.history.moment import Moment
from sentinel.history.roster import Roster
from sentinel.history.strip import Span, Strip
from sentinel.measure.membership import Communicator, Membership, MembershipReader
from sentinel.model.incident import Finding

__all__ = ["Added", "Record"]


@dataclass(frozen=True)
class Added:
    """What one tick added to a communicator: no tick where it is gone, and the bins that are over.

    `roster` is None where it is as before.
    """

    comm: str
    tick: Column | None
    closed: Sequence[Column]
    roster: Roster | None


class Record:
    """What there is in memory. What is past `max_bytes` goes, the oldest first, and is counted in `dropped` as `full`.

    `fault` says why what comes now is not kept in the file; empty where it is.
    """

    def __init__(self, span: Span, max_bytes: int, dropped: Counter[str] | None = None) -> None:
        self.span = span
        self.max_bytes = max_bytes
        self.dropped = Counter[str]() if dropped is None else dropped
        self.fault = ""
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
        """All of which there are ticks."""
        with self._lock:
            return [strip.roster for strip in self._strips.values()]

    def has(self, comm: str) -> bool:
        """Whether there are ticks of a communicator."""
        with self._lock:
            return comm in self._strips

    def columns(self, comm: str, ticks: bool) -> tuple[Roster, list[Column]] | None:
        """Of one communicator, ticks or their bins; None where there are none."""
        with self._lock:
            strip = self._strips.get(comm)
            if strip is None:
                return None
            return strip.roster, strip.ticks() if ticks else strip.bins()

    def said(self, ticks: bool) -> list[tuple[Roster, list[Said]]]:
        """Of every communicator what was said, in ticks or their bins."""
        with self._lock:
            return [(strip.roster, strip.said(ticks)) for strip in self._strips.values()]

    def finished(self) -> Iterator[Added]:
        """Bins that are over, of all ticks that there are."""
        with self._lock:
            strips = list(self._strips.items())
        for comm, strip in strips:
            with self._lock:
                finished = strip.finished()
            yield Added(comm, None, finished, None)

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
            for comm, strip in self._strips.items():
                if closed := strip.close(time):  # those that are gone
                    added.append(Added(comm, None, closed, None))
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
        self, rosters: Iterable[Roster], newest_bins: Mapping[str, float], ticks: Iterable[tuple[str, Column]]
    ) -> None:
        """Ticks that were kept, in the order of time, and the end of each communicator's newest bin; first of all."""
        newest = 0.0
        with self._lock:
            for roster in rosters:
                self._strips.setdefault(roster.comm, Strip(roster, newest_bins.get(roster.comm, 0.0)))
            for comm, column in ticks:
                if comm in self._strips:
                    self._strips[comm].restore(column)
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
        for strip in self._strips.values():
            strip.forget(now, self.span)
        total = sum(strip.nbytes for strip in self._strips.values())
        while total > self.max_bytes:
            oldest = min(strip.oldest for strip in self._strips.values())
            for strip in self._strips.values():
                if strip.oldest <= oldest:
                    strip.forget_oldest()
                    self.dropped["full"] += 1
            total = sum(strip.nbytes for strip in self._strips.values())
        self._strips = {comm: strip for comm, strip in self._strips.items() if strip.last_tick is not None}


def _by_communicator(findings: Iterable[Finding]) -> dict[str, int]:
    count: dict[str, int] = {}
    for finding in findings:
        count[finding.culprit.comm] = count.get(finding.culprit.comm, 0) + 1
    return count


def _sharing(means: RankMeans, strip: Strip) -> RankMeans:
    """The same with the array of ranks of the tick before, where it is the same: kept once, not a thousand times."""
    last = strip.last_tick
    if last is not None and np.array_equal(last.ranks, means.ranks):
        return RankMeans(last.ranks, means.lateness_seconds, means.duration_seconds)
    return means
