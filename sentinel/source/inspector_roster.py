"""Communicators and their members, from labels that have no communicator's id and no rank."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from sentinel.model.place_rank import place_rank

__all__ = ["Group", "GroupKey", "Place", "Roster"]

Place = tuple[str, str]
"""Node and GPU."""


@dataclass(frozen=True)
class GroupKey:
    """All that tells communicators apart. `node` is set for those of one node, which each node has its own of."""

    job_id: str
    comm_name: str
    nranks: int
    nnodes: int
    node: str

    @property
    def comm(self) -> str:
        """An id of 16 hex digits, the same after a restart of the job."""
        text = "\0".join((self.job_id, self.comm_name, str(self.nranks), str(self.nnodes), self.node))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass
class Group:
    """GPUs with one key. Their numbers in it are ours: in the order of node and GPU, later ones after them."""

    key: GroupKey
    comm: str
    numbers: dict[Place, int] = field(default_factory=dict)
    members: set[Place] = field(default_factory=set)  # at the last instant

    @property
    def is_one_communicator(self) -> bool:
        """Whether its members can be those of one: with more GPUs than ranks there are several, and no telling which.

        Two communicators of the same GPUs cannot be told from one either; their means are mixed before we see them.
        """
        return len(self.members) <= self.key.nranks


class Roster:
    """Every group that was ever seen."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, Group] = {}
        self._comms: dict[GroupKey, str] = {}
        self._place_ranks: dict[Place, int] = {}

    def comm(self, key: GroupKey) -> str:
        """The id of the communicator that has this key, if it is one."""
        known = self._comms.get(key)
        if known is None:
            known = self._comms[key] = key.comm
        return known

    def call(self, present: Iterable[tuple[GroupKey, Place]]) -> dict[GroupKey, Group]:
        """Who is there at an instant."""
        members: dict[GroupKey, set[Place]] = {}
        for key, place in present:
            members.setdefault(key, set()).add(place)
        for key, places in members.items():
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = Group(key, self.comm(key))
            group.members = places
            for place in sorted(places - group.numbers.keys(), key=_natural):
                group.numbers[place] = len(group.numbers)
        return {key: self._groups[key] for key in members}

    def place_rank(self, place: Place) -> int:
        """The number that stands for a GPU's rank."""
        known = self._place_ranks.get(place)
        if known is None:
            known = self._place_ranks[place] = place_rank(*place)
        return known


def _natural(place: Place) -> tuple[str, int, str]:
    node, gpu = place
    return node, int(gpu) if gpu.isdecimal() else 0, gpu
