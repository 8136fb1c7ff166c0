"""Who was in each communicator over many stretches of history."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentinel.baseline.measured import SeenCommunicator, StretchHead
from sentinel.measure.membership import Member, Role, ranks_text
from sentinel.model.vocabulary import Codes

__all__ = ["People"]


@dataclass(frozen=True)
class _Group:
    role: Role
    members: Mapping[int, Member]  # by rank
    ranks: Mapping[int, int] | None  # by global rank; None where nothing was numbered differently


class People:
    """Of all stretches together: everybody who was ever seen in a communicator makes its role.

    A source that numbers ranks itself may have done so differently where some were missing: the stretch that saw most
    of them decides, of several the last.
    """

    def __init__(self, heads: Sequence[StretchHead]) -> None:
        seen: dict[str, list[SeenCommunicator]] = defaultdict(list)
        self._global_ranks: dict[tuple[str, int], Mapping[int, int]] = {}  # by rank, in each stretch
        self._met: dict[str, tuple[int, int]] = {}
        is_counted = all(head.is_counted for head in heads)
        for number, head in enumerate(heads):
            for place, each in enumerate(head.communicators):
                seen[each.comm].append(each)
                self._met[each.comm] = number, place
                if not is_counted:
                    self._global_ranks[each.comm, number] = {member.rank: member.global_rank for member in each.members}
        group = _counted if is_counted else _numbered
        self._groups = {comm: group(parts) for comm, parts in seen.items()}

    def role(self, comm: str) -> Role:
        """What the communicator of this id is."""
        return self._groups[comm].role

    def met(self, comm: str) -> tuple[int, int]:
        """Grows with when it was met for the first time in the last stretch that it was in."""
        return self._met[comm]

    def member(self, comm: str, rank: int) -> Member:
        """Who has that rank in it; of several the last."""
        return self._groups[comm].members[rank]

    def ranks(self, comm: str, number: int, ranks: Codes) -> Codes:
        """The ranks that ranks of a stretch have over all; −1 where somebody else has it. Shape (n,)."""
        known = self._groups[comm].ranks
        if known is None:
            return ranks
        global_ranks = self._global_ranks[comm, number]
        return np.array([known.get(global_ranks[rank], -1) for rank in ranks.tolist()], dtype=np.int32)


def _counted(parts: Sequence[SeenCommunicator]) -> _Group:
    members = {member.rank: member for part in parts for member in part.members}
    return _Group(_role(parts[-1], members), members, None)


def _numbered(parts: Sequence[SeenCommunicator]) -> _Group:
    # The last of those that saw the most, and then the others from the newest to the oldest.
    order = sorted(range(len(parts)), key=lambda place: (-len(parts[place].members), -place))
    members: dict[int, Member] = {}
    ranks: dict[int, int] = {}
    for place in order:
        for member in parts[place].members:
            if member.rank not in members and member.global_rank not in ranks:
                members[member.rank], ranks[member.global_rank] = member, member.rank
    return _Group(_role(parts[-1], members), members, ranks)


def _role(last: SeenCommunicator, members: Mapping[int, Member]) -> Role:
    everybody = ranks_text([member.global_rank for member in members.values()])
    return Role(last.job_id, last.comm_name, last.nranks, last.nnodes, everybody)
