"""Ranks whose series are gone, and what was last known of them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sentinel.measure.index import SeriesIndex
from sentinel.measure.membership import Communicator, Member, Membership
from sentinel.measure.row_space import Column, Rows
from sentinel.model.snapshot import Snapshot

__all__ = ["Departure", "Departures", "Process"]

Process = tuple[str, str, int]  # job id, or where there is none the node and GPU; global rank


def _process(communicator: Communicator, member: Member) -> Process:
    """A process that starts anew elsewhere is the same one, as far as its job has a name."""
    job_id = communicator.role.job_id
    return (job_id, "" if job_id else f"{member.node} {member.gpu_uuid or member.gpu}", member.global_rank)


@dataclass(frozen=True)
class Departure:
    """One rank of one communicator, gone. `communicator` is as it was when the rank was there.

    `instance` is the code of its exporter, 0 where nobody told. Times are Unix seconds: of its last sample, and of the
    snapshot that was the first without it.
    """

    communicator: Communicator
    member: Member
    instance: int
    sampled_at: float
    gone_at: float

    @property
    def process(self) -> Process:
        """Whose rank it was."""
        return _process(self.communicator, self.member)


class Departures:
    """Compares each snapshot with the one before. A rank that is back has not departed.

    Nothing is done while nobody comes or goes but keep the times of the newest samples.
    """

    def __init__(self) -> None:
        self._index = SeriesIndex()
        self._sampled_at = Column(self._index, np.nan)
        self._instance = Column(self._index, 0, dtype=np.int32)
        self._is_here = Column(self._index, False, dtype=np.bool_)
        self._membership = Membership({})
        self._gone: dict[int, dict[int, Departure]] = {}  # by communicator and rank
        self._created: dict[str, float] = {}  # when a job was last seen with a communicator that is new
        self._processes: frozenset[Process] | None = None  # that are there; looked up when asked for

    def step(self, snapshot: Snapshot, membership: Membership) -> list[Departure]:
        """Take one snapshot, which must be whole: what it lacks is gone. Those that departed in it."""
        table = snapshot.communicators
        rows = self._index.rows(table.comm, table.rank)
        here = np.zeros(len(self._index), dtype=bool)
        here[rows] = True
        departed = []
        if membership is not self._membership:
            departed = self._depart(np.flatnonzero(self._is_here.values & ~here), snapshot.time)
            self._note_new(membership, snapshot.time)
            self._membership, self._processes = membership, None
        self._is_here.values[:] = here
        self._sampled_at[rows] = snapshot.sampled_at
        if len(snapshot.instance):
            self._instance[rows] = snapshot.instance
        return departed

    def standing(self) -> Iterator[Departure]:
        """All that are gone from communicators which others are still in, and have not come back elsewhere."""
        if not self._gone:
            return
        if self._processes is None:
            self._processes = frozenset(
                _process(each, member)
                for each in self._membership.communicators.values()
                for member in each.members.values()
            )
        for comm in self._gone.keys() & self._membership.communicators.keys():
            yield from (each for each in self._gone[comm].values() if each.process not in self._processes)

    def created(self, job: str) -> float:
        """When a communicator of that job was last new, Unix seconds."""
        return self._created.get(job, -np.inf)

    def count(self, comm: int) -> int:
        """How many ranks are gone from a communicator."""
        return len(self._gone.get(comm, ()))

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)
        for comm in comms:
            self._gone.pop(comm, None)

    def _depart(self, rows: Rows, time: float) -> list[Departure]:
        departed = []
        for row, (comm, rank) in zip(rows.tolist(), self._index.keys(rows), strict=True):
            member = self._membership.member(comm, rank)
            if member is not None:
                communicator = self._membership.communicators[comm]
                sampled_at, instance = float(self._sampled_at[row]), int(self._instance[row])
                departed.append(Departure(communicator, member, instance, sampled_at, time))
                self._gone.setdefault(comm, {})[rank] = departed[-1]
        return departed

    def _note_new(self, membership: Membership, time: float) -> None:
        before: Mapping[int, Communicator] = self._membership.communicators
        gone = {each.communicator.job for ranks in self._gone.values() for each in ranks.values()}
        jobs = gone.union(communicator.job for communicator in membership.communicators.values())
        self._created = {job: created for job, created in self._created.items() if job in jobs}
        for comm, communicator in membership.communicators.items():
            if comm not in before and comm not in self._gone:
                self._created[communicator.job] = time
            back = self._gone.get(comm)
            if back:
                left = {rank: each for rank, each in back.items() if rank not in communicator.members}
                if left:
                    self._gone[comm] = left
                else:
                    del self._gone[comm]
