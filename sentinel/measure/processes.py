"""Processes and the waits between them, whatever communicators they meet in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sentinel.measure.membership import Communicator, Membership
from sentinel.measure.waits import COLLECTIVES, Waits

__all__ = ["Process", "Processes", "WaitLayout", "WaitLayoutReader"]

Rows = npt.NDArray[np.int64]

Process = tuple[str, str, int]  # job, node and global rank

_UNKNOWN = -1


@dataclass(frozen=True)
class Processes:
    """All processes of a membership, numbered, with those that were there before.

    The latter are known by `number` alone: somebody may wait for a process that nobody scrapes. `kind` numbers
    communicators that do the same in different places, such as all data-parallel groups of a job; it stays what it is
    when members are missing.
    """

    keys: Sequence[Process]
    number: Mapping[tuple[int, int], int]  # by communicator and rank
    members: Mapping[int, Rows]  # by communicator
    kind: Mapping[int, int]
    comms: Mapping[int, Sequence[int]]  # by process

    @classmethod
    def of(cls, membership: Membership, before: "Processes | None" = None) -> "Processes":
        """Those that are known now, and of those `before` the ones whose communicators are still there."""
        keys: dict[Process, int] = {}
        number: dict[tuple[int, int], int] = {}
        members: dict[int, Rows] = {}
        kinds: dict[tuple[object, ...], int] = {}
        kind: dict[int, int] = {}
        comms: dict[int, list[int]] = defaultdict(list)
        earlier: dict[int, dict[int, Process]] = defaultdict(dict)
        if before is not None:
            for (comm, rank), process in before.number.items():
                earlier[comm][rank] = before.keys[process]
        for comm, communicator in membership.communicators.items():
            mine = []
            absent = {rank: who for rank, who in earlier[comm].items() if rank not in communicator.members}
            for rank, who in absent.items():
                number[comm, rank] = keys.setdefault(who, len(keys))
            for rank, member in communicator.members.items():
                process = keys.setdefault((communicator.job, member.node, member.global_rank), len(keys))
                number[comm, rank] = process
                comms[process].append(comm)
                mine.append(process)
            members[comm] = np.array(mine, dtype=np.int64)
            kind[comm] = kinds.setdefault(_kind(communicator, [who[2] for who in absent.values()]), len(kinds))
        return cls(list(keys), number, members, kind, comms)


@dataclass(frozen=True)
class WaitLayout:
    """Whose wait each row of `Waits` is, and which others it can be compared with. Shape (n,).

    `process` waits, for `source` where that is one process; −1 where it is not known. Rows of one `direction` go the
    same way in communicators of one kind (to the stage before, say); those of one `place` come from the same rank of
    them as well.
    """

    processes: Processes
    process: Rows
    source: Rows
    direction: Rows
    place: Rows

    @cached_property
    def _order(self) -> tuple[Rows, Rows, Rows]:
        order = np.argsort(self.process, kind="stable")
        numbers = np.arange(len(self.processes.keys))
        ordered = self.process[order]
        return order, np.searchsorted(ordered, numbers), np.searchsorted(ordered, numbers, side="right")

    def rows_of(self, processes: Rows) -> Rows:
        """The rows of some processes."""
        order, begin, end = self._order
        count = end[processes] - begin[processes]
        first = np.repeat(begin[processes] - np.cumsum(count) + count, count)
        rows: Rows = order[first + np.arange(count.sum())]
        return rows


class WaitLayoutReader:
    """Lays out each tick's waits; anew only where series or membership have changed."""

    def __init__(self) -> None:
        self._membership: Membership | None = None
        self._processes = Processes([], {}, {}, {}, {})
        self._last: tuple[npt.NDArray[np.int32], WaitLayout] | None = None

    def read(self, waits: Waits, membership: Membership) -> WaitLayout:
        """The layout of one tick's waits."""
        if self._membership is not membership:
            self._processes, self._membership = Processes.of(membership, self._processes), membership
            self._last = None
        series = np.stack([waits.comm, waits.rank, waits.peer], axis=1)
        if self._last is None or not np.array_equal(self._last[0], series):
            self._last = (series, _laid_out(series, self._processes, membership))
        return self._last[1]


def _laid_out(series: npt.NDArray[np.int32], processes: Processes, membership: Membership) -> WaitLayout:
    rows = np.full((4, len(series)), _UNKNOWN, dtype=np.int64)
    relations: dict[tuple[int, ...], int] = {}
    for place, (comm, rank, peer) in enumerate(series.tolist()):
        process = processes.number.get((comm, rank))
        if process is None:
            continue
        kind = processes.kind[comm]
        if peer == COLLECTIVES:
            alike = relations.setdefault((kind,), len(relations))
            rows[:, place] = process, _UNKNOWN, alike, alike
            continue
        nranks, offset = membership.communicators[comm].role.nranks, peer - rank
        # Round a ring; of two ranks each is before and behind the other.
        direction = offset % nranks if nranks > 2 else offset
        rows[:, place] = (
            process,
            processes.number.get((comm, peer), _UNKNOWN),
            relations.setdefault((kind, direction), len(relations)),
            relations.setdefault((kind, direction, rank), len(relations)),
        )
    return WaitLayout(processes, *rows)


def _kind(communicator: Communicator, absent: Sequence[int]) -> tuple[object, ...]:
    """Names are often empty and shared by groups of different kinds: the distance of the members tells those apart."""
    role = communicator.role
    ranks = sorted([*absent, *(member.global_rank for member in communicator.members.values())])
    distance = min((after - before for before, after in pairwise(ranks)), default=0)
    return (communicator.job, role.comm_name, role.nranks, role.nnodes, distance)
