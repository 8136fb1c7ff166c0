"""Stalled communicators, and the rank that everybody waits for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

from sentinel.config.detection import StalledSettings
from sentinel.detect.culprit import culprit_of
from sentinel.detect.frozen_counts import launched_operations
from sentinel.measure.membership import Communicator, Membership
from sentinel.measure.window import Window
from sentinel.model.incident import Finding, Verdict
from sentinel.model.snapshot import Snapshot

__all__ = ["find_stalls", "stalled_communicators"]

# Nothing is in flight for a month: an age beyond it is a broken clock, and says nothing.
_MAX_AGE_SECONDS = 30 * 86_400.0

_RANKS_SHOWN = 64

Process = tuple[str, int]  # node and global rank: one process in all its communicators


@dataclass(frozen=True)
class _Rank:
    """One process of a stalled job; only those about which the store knows what is in flight.

    Counts of operations are compared in each stalled communicator, and the largest difference stands.
    """

    oldest_seconds: float  # over all its communicators; 0: nothing known in flight anywhere
    behind: float  # launched fewer than the median rank
    ahead: float  # launched more than the rank with the fewest: it waits in them, timed or not

    @property
    def waits(self) -> bool:
        return self.oldest_seconds > 0 or self.ahead > 0


def stalled_communicators(window: Window, snapshot: Snapshot, settings: StalledSettings) -> Mapping[int, float]:
    """Communicators in which something has been in flight for `stall_after` and nothing finished in the window.

    By code, the age in seconds of the oldest operation in flight. Ages come from the nodes' own clocks and stop
    growing when scrapes stop, so that missing data does not look like a stall.
    """
    limit = settings.stall_after.total_seconds()
    old = _known_ages(snapshot) & (snapshot.in_flight.oldest_seconds >= limit)
    old[old] = ~np.isin(snapshot.in_flight.comm[old], window.comm)
    oldest: dict[int, float] = {}
    for comm, seconds in zip(
        snapshot.in_flight.comm[old].tolist(), snapshot.in_flight.oldest_seconds[old].tolist(), strict=True
    ):
        oldest[comm] = max(oldest.get(comm, 0.0), seconds)
    return oldest


def _known_ages(snapshot: Snapshot) -> npt.NDArray[np.bool_]:
    """Which rows of `in_flight` say something."""
    ages = snapshot.in_flight.oldest_seconds
    return np.asarray((ages >= 0.0) & (ages <= min(_MAX_AGE_SECONDS, snapshot.time)))


def _ages(snapshot: Snapshot) -> Iterator[tuple[int, int, float]]:
    """(comm, rank, age of its oldest operation in flight), where that is known."""
    flight, known = snapshot.in_flight, _known_ages(snapshot)
    columns = (flight.comm[known], flight.rank[known], flight.oldest_seconds[known])
    yield from zip(*(column.tolist() for column in columns), strict=True)


def find_stalls(stalled: Mapping[int, float], membership: Membership, snapshot: Snapshot) -> list[Finding]:
    """One finding a job: the ranks that the others wait for.

    When nobody stands out it names the largest stalled communicator.
    """
    jobs: dict[str, list[Communicator]] = defaultdict(list)
    for comm in stalled:
        if comm in membership.communicators:
            jobs[membership.communicators[comm].job].append(membership.communicators[comm])
    return [_find(group, stalled, membership, snapshot) for _, group in sorted(jobs.items())]


def _find(
    stalled: Sequence[Communicator], ages: Mapping[int, float], membership: Membership, snapshot: Snapshot
) -> Finding:
    ranks = _ranks(stalled, membership, snapshot)
    culprits, reason = _culprits(ranks)
    waiting = {process for process, rank in ranks.items() if rank.waits}
    largest = max(stalled, key=lambda c: (_concerns(c, culprits), c.role.nranks, c.id))
    age = max(ages[c.code] for c in stalled)
    members = {(m.node, m.global_rank): m for c in stalled for m in c.members.values()}
    named = sorted(culprits, key=lambda process: process[1])
    return Finding(
        culprit=culprit_of(Verdict.STALLED, largest, [members[process] for process in named]),
        cost_ratio=1.0,
        started_at=snapshot.time - age,
        victims=len(waiting),
        evidence={
            "reason": reason,
            "stalled_seconds": round(age, 1),
            "communicators": sorted(c.id for c in stalled),
            "waiting_ranks": sorted(rank for _, rank in waiting)[:_RANKS_SHOWN],
            "ranks_without_data": sum(c.missing for c in stalled),
            "operations_behind": [{"rank": rank, "operations": behind} for rank, behind in _most_behind(ranks)],
        },
    )


def _most_behind(ranks: Mapping[Process, _Rank]) -> list[tuple[int, float]]:
    """The ranks that launched least, by rank."""
    behind = [(rank, state.behind) for (_, rank), state in ranks.items() if state.behind > 0]
    return sorted(sorted(behind, key=lambda each: (-each[1], each[0]))[:_RANKS_SHOWN])


def _ranks(stalled: Iterable[Communicator], membership: Membership, snapshot: Snapshot) -> dict[Process, _Rank]:
    """Every process in the stalled communicators, with what it has in flight in any communicator at all."""
    processes = {(m.node, m.global_rank) for c in stalled for m in c.members.values()}
    oldest: dict[Process, float] = {}
    for comm, rank, seconds in _ages(snapshot):
        member = membership.member(comm, rank)
        if member is not None and (member.node, member.global_rank) in processes:
            process = (member.node, member.global_rank)
            oldest[process] = max(oldest.get(process, 0.0), seconds)
    behind: dict[Process, float] = dict.fromkeys(processes, 0.0)
    ahead = behind.copy()
    for communicator in stalled:
        launched = launched_operations(communicator.code, snapshot.collectives)
        counts = {rank: count for rank, count in launched.items() if rank in communicator.members}
        for rank, count in counts.items():
            member = communicator.members[rank]
            process = (member.node, member.global_rank)
            behind[process] = max(behind[process], median(counts.values()) - count)
            ahead[process] = max(ahead[process], count - min(counts.values()))
    return {process: _Rank(seconds, behind[process], ahead[process]) for process, seconds in oldest.items()}


def _culprits(ranks: Mapping[Process, _Rank]) -> tuple[set[Process], str]:
    """Whom the others wait for: a minority that waits for nobody, else a minority that launched fewer operations.

    Who is ahead of others in one communicator waits there, and is no culprit where it is behind.
    """
    idle = {process for process, rank in ranks.items() if not rank.waits}
    behind = {process for process, rank in ranks.items() if rank.behind > 0}
    flying = any(rank.oldest_seconds > 0 for rank in ranks.values())
    if flying and _is_minority(idle, ranks):
        return idle, "nothing in flight in any communicator while the others wait"
    if _is_minority(idle & behind, ranks):
        return idle & behind, "launched fewer operations than the others, and nobody launches more"
    if not idle and _is_minority(behind, ranks):
        return behind, "launched fewer operations than the others"
    return set(), "nobody stands out"


def _is_minority(some: set[Process], ranks: Mapping[Process, _Rank]) -> bool:
    return 0 < len(some) <= len(ranks) // 2


def _concerns(communicator: Communicator, culprits: set[Process]) -> bool:
    """Whether a culprit is in it."""
    return any((m.node, m.global_rank) in culprits for m in communicator.members.values())
