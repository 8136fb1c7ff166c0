"""Rows that belong together: numbered groups, laid out so that statistics inside all of them are one operation."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Groups", "Numbers", "distinct", "group_rows"]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups 0 … m − 1, none empty: the group of each row, shape (n,), and the first row of each group, shape (m,)."""

    of: Numbers
    first: Numbers

    @classmethod
    def of_rows(cls, group: Numbers) -> "Groups":
        """Rows whose groups are given, shape (n,)."""
        return cls(group, _first_rows(group))

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def size(self) -> Numbers:
        """How many rows each has. Shape (m,)."""
        return np.bincount(self.of, minlength=len(self.first))

    @cached_property
    def blocks(self) -> tuple[tuple[Numbers, Numbers], ...]:
        """The groups of one size each: their numbers, shape (g,), and their rows, shape (g, size)."""
        size, group = self.size, self.of
        # Small numbers are sorted by counting.
        order = np.argsort(group.astype(np.uint16) if len(size) < 1 << 16 else group, kind="stable")
        start = np.cumsum(size) - size
        blocks = []
        for count in np.unique(size).tolist():
            numbers = np.flatnonzero(size == count)
            blocks.append((numbers, order[start[numbers][:, None] + np.arange(count)]))
        return tuple(blocks)


def group_rows(*columns: npt.NDArray[np.integer]) -> tuple[Numbers, Numbers]:
    """Number the distinct keys, in their order. columns: shape (n,) each, not negative.

    Returns the number of each row, shape (n,), and the first row of each number, shape (m,).
    """
    number = _dense(columns[0])
    for column in columns[1:]:
        dense = _dense(column)
        number = _dense(number * (int(dense.max(initial=0)) + 1) + dense)
    return number, _first_rows(number)


def distinct(codes: npt.NDArray[np.integer]) -> set[int]:
    """The values that occur. codes: shape (n,), not negative."""
    return set(codes[group_rows(codes)[1]].tolist())


def _first_rows(number: Numbers) -> Numbers:
    row = np.empty(int(number.max(initial=-1)) + 1, dtype=np.int64)
    row[number[::-1]] = np.arange(len(number))[::-1]
    return row


def _dense(values: npt.NDArray[np.integer]) -> Numbers:
    """The rank of each value among the distinct ones."""
    if not len(values):
        return np.empty(0, dtype=np.int64)
    highest = int(values.max())
    if highest > 16 * len(values) + (1 << 16):
        _, ranks = np.unique(values, return_inverse=True)
        return np.asarray(ranks.reshape(-1), dtype=np.int64)
    present = np.zeros(highest + 1, dtype=bool)
    present[values] = True
    return np.asarray((np.cumsum(present) - 1)[values], dtype=np.int64)
