"""Communicators whose counts stand still and differ: some ranks wait in an operation that others have not launched."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sentinel.config.detection import StalledSettings
from sentinel.measure.groups import group_rows
from sentinel.measure.membership import Communicator, Member, Membership
from sentinel.measure.standstill import Standstill
from sentinel.model.snapshot import Snapshot, StartedTable

__all__ = ["differing_communicators", "frozen_communicators", "launched_operations"]

Process = tuple[str, str, int]  # job, node and global rank


def frozen_communicators(
    standstill: Standstill, membership: Membership, snapshot: Snapshot, settings: StalledSettings
) -> Mapping[int, float]:
    """Communicators whose known ranks have all launched nothing for `stall_after`, and not the same.

    By code, the seconds since the last of them stopped. Running counts always differ, since nodes are scraped at
    different moments; at rest those of a job that pauses are the same on all ranks. Who is behind must stand still in
    all of its communicators: else it is busy elsewhere, and comes. Who is ahead waits here, and so must have launched
    nothing elsewhere since: a difference that the job has lived with is not what it waits for now.
    """
    limit = settings.stall_after.total_seconds()
    frozen = _all_stand(standstill, limit)
    differing = {
        comm
        for comm in differing_communicators(snapshot.collectives)
        if comm in frozen and comm in membership.communicators
    }
    if not differing:
        return {}
    stops = _stops(standstill, membership)
    return {
        comm: snapshot.time - frozen[comm]
        for comm in differing
        if _is_stuck(membership.communicators[comm], launched_operations(comm, snapshot.collectives), stops, limit)
    }


def launched_operations(comm: int, started: StartedTable) -> dict[int, float]:
    """Operations that each rank has launched in a communicator; a rank of which any count is missing is left out."""
    mine = started.comm == comm
    operations = len(np.unique(started.op[mine]))
    launched: dict[int, list[float]] = {}
    for rank, count in zip(started.rank[mine].tolist(), started.started[mine].tolist(), strict=True):
        launched.setdefault(rank, []).append(count)
    sums = {rank: sum(counts) for rank, counts in launched.items() if len(counts) == operations}
    return {rank: total for rank, total in sums.items() if np.isfinite(total)}


def _all_stand(standstill: Standstill, limit: float) -> dict[int, float]:
    """Communicators in which every rank has stood for `limit` seconds; by code, when the last one stopped."""
    group, first = group_rows(standstill.comm)
    codes = standstill.comm[first]
    shortest, last = np.full(len(codes), np.inf), np.zeros(len(codes))
    np.minimum.at(shortest, group, standstill.seconds)
    np.maximum.at(last, group, standstill.since)
    stand = shortest >= limit
    return dict(zip(codes[stand].tolist(), last[stand].tolist(), strict=True))


def differing_communicators(started: StartedTable) -> set[int]:
    """Communicators in which the ranks' counts of an operation are not the same."""
    known = np.isfinite(started.started)
    comm, count = started.comm[known], started.started[known]
    group, first = group_rows(comm, started.op[known])
    return set(comm[count != count[first][group]].tolist())


def _stops(standstill: Standstill, membership: Membership) -> Mapping[Process, Mapping[int, tuple[float, float]]]:
    """For each process and each of its communicators: since when it launches nothing there, and for how long."""
    stops: dict[Process, dict[int, tuple[float, float]]] = defaultdict(dict)
    columns = (standstill.comm, standstill.rank, standstill.since, standstill.seconds)
    for comm, rank, since, seconds in zip(*(column.tolist() for column in columns), strict=True):
        member = membership.member(comm, rank)
        if member is not None:
            stops[_process(membership.communicators[comm], member)][comm] = (since, seconds)
    return stops


def _is_stuck(
    communicator: Communicator,
    launched: Mapping[int, float],
    stops: Mapping[Process, Mapping[int, tuple[float, float]]],
    limit: float,
) -> bool:
    fewest = min(launched.values(), default=0.0)
    for rank, member in communicator.members.items():
        everywhere = stops[_process(communicator, member)]
        if launched.get(rank, fewest) > fewest:
            here, _ = everywhere[communicator.code]
            if max(since for since, _ in everywhere.values()) >= here + limit:
                return False
        elif min(seconds for _, seconds in everywhere.values()) < limit:
            return False
    return True


def _process(communicator: Communicator, member: Member) -> Process:
    return (communicator.job, member.node, member.global_rank)
