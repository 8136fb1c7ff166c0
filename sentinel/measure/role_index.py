"""A row number for every (role, rank, cell), whatever id its communicator has this time."""

from collections import defaultdict

import numpy as np

from sentinel.measure.groups import group_rows
from sentinel.measure.index import SeriesIndex
from sentinel.measure.labels import Labels
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Member, Membership, Role
from sentinel.measure.row_space import Rows, RowSpace
from sentinel.model.vocabulary import Vocabulary

__all__ = ["RoleIndex", "RoleKey"]

RoleKey = tuple[Role, int, str, str, str, str]  # role, rank, op, size, algo, proto


class RoleIndex(RowSpace):
    """Numbers the rows of lateness by identity; the answer for an unchanged set of series is kept between ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[int, RoleKey] = {}  # by row, as `members`
        self.members: dict[int, Member] = {}  # who last held each row
        self._row: dict[RoleKey, int] = {}
        self._of_role: dict[Role, set[int]] = defaultdict(set)
        # Of the roles that have rows: those that nobody has, and since when that is known, Unix seconds.
        self._away: dict[Role, float] = {}
        self._here: Membership | None = None  # when that was last looked at
        # While the membership is the same: series by their labels, and the row of each.
        self._membership: Membership | None = None
        self._series = SeriesIndex()
        self._of_series: Rows = np.empty(0, dtype=np.int64)
        self._labels: Labels | None = None
        self._last: Rows = self._of_series

    def rows(self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary) -> Rows:
        """Row numbers, shape (n,).

        −1 where the rank is unknown, or a second communicator has the same role and members.
        """
        if membership is not self._membership:
            self._series, self._membership, self._labels = SeriesIndex(), membership, None
            self._of_series = np.empty(0, dtype=np.int64)
        if lateness.labels is self._labels:
            return self._last
        series = self._series.rows(*lateness.labels.columns)
        new = self._series.keys(np.arange(len(self._of_series), len(self._series)))
        self._of_series = np.append(self._of_series, self._numbers(new, membership, vocabulary))
        rows = self._of_series[series]
        known = np.flatnonzero(rows >= 0)
        # Of two rows with one number the first has it.
        number, first = group_rows(rows[known])
        rows[known[first[number] != np.arange(len(known))]] = -1
        self._labels, self._last = lateness.labels, rows
        return rows

    def retire(self, rows: Rows) -> None:
        """Take rows back: who they were is not known any more."""
        super().retire(rows)
        for row in rows.tolist():
            key = self.keys.pop(row)
            del self._row[key], self.members[row]
            self._of_role[key[0]].remove(row)
        self._membership = None

    def forget(self, membership: Membership, time: float, away_seconds: float) -> None:
        """Retire the roles that no communicator has had for so long, as of the Unix time `time`.

        Nothing is done while the membership stays the same: then nothing new comes either.
        """
        if membership is self._here:
            return
        self._here = membership
        here = {communicator.role for communicator in membership.communicators.values()}
        self._away = {role: self._away.get(role, time) for role in self._of_role.keys() - here}
        over = [role for role, since in self._away.items() if time - since >= away_seconds]
        if over:
            self.retire(np.array([row for role in over for row in self._of_role[role]], dtype=np.int64))
        for role in over:
            del self._of_role[role], self._away[role]

    def _numbers(self, series: list[tuple[int, ...]], membership: Membership, vocabulary: Vocabulary) -> Rows:
        """The row of each of these series; −1 where nobody knows whose it is."""
        of_series: list[tuple[RoleKey, Member] | None] = []
        for comm, rank, *cell in series:
            member = membership.member(comm, rank)
            if member is None:
                of_series.append(None)
                continue
            op, size, algo, proto = (vocabulary.text(code) for code in cell)
            of_series.append(((membership.communicators[comm].role, rank, op, size, algo, proto), member))
        new = dict.fromkeys(each[0] for each in of_series if each is not None and each[0] not in self._row)
        for key, row in zip(new, self.take(len(new)).tolist(), strict=True):
            self.keys[row], self._row[key] = key, row
            self._of_role[key[0]].add(row)
        rows = np.full(len(series), -1, dtype=np.int64)
        for place, each in enumerate(of_series):
            if each is not None:
                rows[place] = row = self._row[each[0]]
                self.members[row] = each[1]
        return rows
