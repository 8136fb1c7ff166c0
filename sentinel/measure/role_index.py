"""A row number for every (role, rank, cell), whatever id its communicator has this time."""

import numpy as np

from sentinel.measure.index import Rows
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Member, Membership, Role
from sentinel.model.vocabulary import Vocabulary

__all__ = ["RoleIndex", "RoleKey"]

RoleKey = tuple[Role, int, str, str, str, str]  # role, rank, op, size, algo, proto


class RoleIndex:
    """Numbers the rows of lateness by identity; the answer for an unchanged set of series is kept between ticks."""

    def __init__(self) -> None:
        self.keys: list[RoleKey] = []
        self.members: list[Member] = []  # who last held each row
        self._row: dict[RoleKey, int] = {}
        self._last: tuple[np.ndarray[tuple[int, int], np.dtype[np.int32]], Membership, Rows] | None = None

    def rows(self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary) -> Rows:
        """Row numbers, shape (n,).

        −1 where the rank is unknown, or a second communicator has the same role and members.
        """
        columns = (lateness.comm, lateness.rank, lateness.op, lateness.size, lateness.algo, lateness.proto)
        series = np.stack(columns, axis=1)
        if self._last is not None and self._last[1] is membership and np.array_equal(self._last[0], series):
            return self._last[2]
        rows = np.full(len(series), -1, dtype=np.int64)
        taken: set[int] = set()
        text = vocabulary.text
        for place, (comm, rank, op, size, algo, proto) in enumerate(series.tolist()):
            communicator = membership.communicators.get(comm)
            member = membership.member(comm, rank)
            if communicator is None or member is None:
                continue
            row = self._number((communicator.role, rank, text(op), text(size), text(algo), text(proto)), member)
            if row not in taken:
                taken.add(row)
                rows[place] = row
        self._last = (series, membership, rows)
        return rows

    def _number(self, key: RoleKey, member: Member) -> int:
        row = self._row.setdefault(key, len(self._row))
        if row == len(self.keys):
            self.keys.append(key)
            self.members.append(member)
        else:
            self.members[row] = member
        return row
