"""Who is who: communicators, their members, the jobs they belong to."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentinel.model.snapshot import CommunicatorTable, Snapshot

__all__ = ["Communicator", "Member", "Membership", "MembershipReader", "Role", "ranks_text"]


@dataclass(frozen=True)
class Role:
    """What a communicator is in its job, whatever id it has this time: the identity of a baseline.

    `members` are its global ranks as text, since names are often empty and groups of one kind share theirs.
    """

    job_id: str
    comm_name: str
    nranks: int
    nnodes: int
    members: str


@dataclass(frozen=True)
class Member:
    """One rank of one communicator."""

    rank: int
    global_rank: int
    node: str
    gpu: str
    gpu_uuid: str


@dataclass(frozen=True)
class Communicator:
    """A communicator with the members that are known now. `code` is its id in the vocabulary.

    `job` tells jobs apart also where they have no `job_id`: then it is the id of the largest communicator that shares
    processes with this one.
    """

    code: int
    id: str
    job: str
    role: Role
    members: Mapping[int, Member]  # by rank

    @property
    def missing(self) -> int:
        """How many of its ranks are not known."""
        return max(0, self.role.nranks - len(self.members))


@dataclass(frozen=True)
class Membership:
    """All communicators of a snapshot, by code."""

    communicators: Mapping[int, Communicator]

    def member(self, comm: int, rank: int) -> Member | None:
        """Who that rank is, or None when `nccl_communicator_info` does not say."""
        communicator = self.communicators.get(comm)
        return None if communicator is None else communicator.members.get(rank)


class MembershipReader:
    """Reads the membership of each snapshot; anew only when it has changed.

    A role is made of everybody who was ever seen in the communicator: a rank whose series are missing for a while does
    not make it another one, whose normal nobody knows.
    """

    def __init__(self) -> None:
        self._seen: dict[int, dict[int, int]] = {}  # global ranks by communicator and rank
        self._table: CommunicatorTable | None = None
        self._membership = Membership({})

    def read(self, snapshot: Snapshot) -> Membership:
        """The membership of one snapshot. All snapshots must share one vocabulary."""
        table = snapshot.communicators
        if self._table is None or not _same(self._table, table):
            self._membership = _read(snapshot, self._seen)
            self._table = table
        return self._membership


def ranks_text(ranks: Sequence[int]) -> str:
    """Ranks as short text: `0-7`, `0-56:8` for every eighth, else a list; a digest where that would be long."""
    ordered = sorted(ranks)
    if len(ordered) > 2:
        step = ordered[1] - ordered[0]
        if step > 0 and ordered == list(range(ordered[0], ordered[-1] + 1, step)):
            return f"{ordered[0]}-{ordered[-1]}" + (f":{step}" if step > 1 else "")
    text = ",".join(map(str, ordered))
    return text if len(text) <= 64 else "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:16]


def _same(a: CommunicatorTable, b: CommunicatorTable) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)


def _read(snapshot: Snapshot, seen: dict[int, dict[int, int]]) -> Membership:
    table, text = snapshot.communicators, snapshot.vocabulary.text
    members: dict[int, dict[int, Member]] = defaultdict(dict)
    head: dict[int, tuple[str, str, int, int]] = {}
    columns = [getattr(table, name).tolist() for name in table.__dataclass_fields__]
    for comm, rank, global_rank, nranks, nnodes, comm_name, node, gpu, gpu_uuid, job_id in zip(*columns, strict=True):
        known = global_rank if global_rank >= 0 else rank
        members[comm][rank] = Member(rank, known, text(node), text(gpu), text(gpu_uuid))
        head[comm] = (text(job_id), text(comm_name), nranks, nnodes)
    for comm in seen.keys() - members.keys():
        del seen[comm]
    for comm, ranks in members.items():
        seen.setdefault(comm, {}).update({rank: member.global_rank for rank, member in ranks.items()})
    jobs = _jobs({comm: (head[comm][0], text(comm), members[comm]) for comm in members})
    return Membership(
        {
            comm: Communicator(
                code=comm,
                id=text(comm),
                job=jobs[comm],
                role=Role(*head[comm], members=ranks_text(list(seen[comm].values()))),
                members=known,
            )
            for comm, known in members.items()
        }
    )


def _jobs(communicators: Mapping[int, tuple[str, str, Mapping[int, Member]]]) -> dict[int, str]:
    """The job of each communicator: its job_id, else the largest communicator reached over shared processes."""
    parent = {comm: comm for comm in communicators}

    def root(comm: int) -> int:
        while parent[comm] != comm:
            parent[comm] = parent[parent[comm]]
            comm = parent[comm]
        return comm

    # The GPU as well: two jobs may run on one node, each with a rank 0.
    first: dict[tuple[str, str, str, int], int] = {}
    for comm, (job_id, _, members) in communicators.items():
        for member in members.values():
            parent[root(comm)] = root(
                first.setdefault((job_id, member.node, member.gpu_uuid or member.gpu, member.global_rank), comm)
            )
    largest: dict[int, tuple[int, str]] = {}
    for comm, (_, name, members) in communicators.items():
        largest[root(comm)] = min(largest.get(root(comm), (0, "")), (-len(members), name))
    return {comm: job_id or largest[root(comm)][1] for comm, (job_id, _, _) in communicators.items()}
