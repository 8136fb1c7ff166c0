# SPDX-License-Identifier: Apache-2.0
"""Which communicator of RAS is which of ours: the two know it by different ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from nccl_exporter.layout import OperationKind
from nccl_exporter.model import Communicator, Process
from nccl_exporter.ras.answer import Identity, RasCommunicator, RasRank

_Key = TypeVar("_Key", int, Identity)


@dataclass(frozen=True, slots=True)
class LocalCommunicator:
    """The ranks of a communicator that this node has: their pids, and what each has started, by collective.

    `nranks` is 0 where it is not known.
    """

    id: int
    nranks: int
    pids: dict[int, int] = field(default_factory=dict)
    started: dict[int, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Matching:
    """RAS's communicator by our id, and how many of ours have none or more than one that they could be."""

    found: Mapping[int, RasCommunicator]
    not_found: int
    ambiguous: int


def gather(pairs: Iterable[tuple[Process, Communicator]]) -> dict[int, LocalCommunicator]:
    """Our communicators by id."""
    found: dict[int, LocalCommunicator] = {}
    for process, communicator in pairs:
        local = found.setdefault(communicator.id, LocalCommunicator(communicator.id, communicator.nranks))
        local.pids[communicator.rank] = process.pid
        local.started[communicator.rank] = {
            row.name: row.started for row in communicator.operations if row.kind is OperationKind.COLLECTIVE
        }
    return found


def between(before: LocalCommunicator | None, after: LocalCommunicator, share: float) -> LocalCommunicator:
    """What was started at a moment between two scrapes, `share` of the way from one to the other."""
    if before is None:
        return after
    started = {
        rank: {
            name: (old := before.started.get(rank, {}).get(name, 0.0)) + (count - old) * share
            for name, count in counts.items()
        }
        for rank, counts in after.started.items()
    }
    return LocalCommunicator(after.id, after.nranks, after.pids, started)


class Roster:
    """RAS's communicators by the processes that are in them."""

    def __init__(self, communicators: Iterable[RasCommunicator], hosts: frozenset[str]) -> None:
        self._hosts = hosts
        self._by_member: defaultdict[tuple[int, int], list[RasCommunicator]] = defaultdict(list)
        for communicator in communicators:
            for rank in communicator.ranks.values():
                if rank.pid >= 0 and self._may_be_here(rank):
                    self._by_member[rank.rank, rank.pid].append(communicator)

    def match(self, ours: Sequence[LocalCommunicator]) -> Matching:
        """Two fit if size and members do; of several, the two that are nearest to each other by their counts."""
        candidates = {local.id: self._candidates(local) for local in ours}
        distances: dict[Identity, dict[int, float]] = defaultdict(dict)
        for local in ours:
            for theirs in candidates[local.id]:
                distances[theirs.identity][local.id] = _distance(local, theirs)
        found: dict[int, RasCommunicator] = {}
        for local in ours:
            mine = {theirs.identity: distances[theirs.identity][local.id] for theirs in candidates[local.id]}
            nearest = _nearest(mine)
            if nearest is not None and _nearest(distances[nearest]) == local.id:
                found[local.id] = next(one for one in candidates[local.id] if one.identity == nearest)
        not_found = sum(not candidates[local.id] for local in ours)
        return Matching(found, not_found, len(ours) - len(found) - not_found)

    def _candidates(self, local: LocalCommunicator) -> list[RasCommunicator]:
        seen = {
            communicator.identity: communicator
            for rank, pid in local.pids.items()
            for communicator in self._by_member.get((rank, pid), ())
        }
        return [communicator for communicator in seen.values() if self._fits(local, communicator)]

    def _fits(self, local: LocalCommunicator, theirs: RasCommunicator) -> bool:
        if local.nranks not in {0, theirs.size}:
            return False
        for rank, pid in local.pids.items():
            member = theirs.ranks.get(rank)
            if member is not None and member.pid >= 0 and (member.pid != pid or not self._may_be_here(member)):
                return False
        return True

    def _may_be_here(self, rank: RasRank) -> bool:
        return not self._hosts or rank.host in self._hosts


def _nearest(distances: Mapping[_Key, float]) -> _Key | None:
    """The one with the least distance, if it is the only one."""
    least = min(distances.values(), default=0.0)
    nearest = [key for key, distance in distances.items() if distance == least]
    return nearest[0] if len(nearest) == 1 else None


def _distance(local: LocalCommunicator, theirs: RasCommunicator) -> float:
    """How many operations RAS and the profiler disagree about, over the ranks that both know."""
    total = 0.0
    for rank, started in local.started.items():
        member = theirs.ranks.get(rank)
        if member is None or member.missing:
            continue
        for name in started.keys() | member.counts.keys():
            total += abs(started.get(name, 0.0) - member.counts.get(name, 0))
    return total
