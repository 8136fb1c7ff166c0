"""A row number for every (role, rank, cell), whatever id its communicator has this time."""

import numpy as np

from sentinel.measure.groups import group_rows
from sentinel.measure.index import Rows, SeriesIndex
from sentinel.measure.labels import Labels
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
        numbers = [self._number(key, membership, vocabulary) for key in new]
        self._of_series = np.append(self._of_series, np.array(numbers, dtype=np.int64))
        rows = self._of_series[series]
        known = np.flatnonzero(rows >= 0)
        # Of two rows with one number the first has it.
        number, first = group_rows(rows[known])
        rows[known[first[number] != np.arange(len(known))]] = -1
        self._labels, self._last = lateness.labels, rows
        return rows

    def _number(self, series: tuple[int, ...], membership: Membership, vocabulary: Vocabulary) -> int:
        comm, rank, *cell = series
        member = membership.member(comm, rank)
        if member is None:
            return -1
        op, size, algo, proto = (vocabulary.text(code) for code in cell)
        key = (membership.communicators[comm].role, rank, op, size, algo, proto)
        row = self._row.setdefault(key, len(self._row))
        if row == len(self.keys):
            self.keys.append(key)
            self.members.append(member)
        else:
            self.members[row] = member
        return row
