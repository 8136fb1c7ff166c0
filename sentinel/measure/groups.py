"""Rows that belong together: numbered groups, laid out so that statistics inside all of them are one operation."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Groups", "Numbers", "distinct", "group_rows"]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Groups 0 … m − 1, none empty. `of` is the group of each row, shape (n,); `size` has shape (m,).

    `blocks` are the groups of one size each: their numbers, shape (g,), and their rows, shape (g, size).
    """

    of: Numbers
    size: Numbers
    blocks: tuple[tuple[Numbers, Numbers], ...]

    @classmethod
    def of_rows(cls, group: Numbers) -> "Groups":
        """Lay out rows whose groups are given, shape (n,)."""
        size = np.bincount(group) if len(group) else np.empty(0, dtype=np.int64)
        # Small numbers are sorted by counting.
        order = np.argsort(group.astype(np.uint16) if len(size) < 1 << 16 else group, kind="stable")
        start = np.cumsum(size) - size
        blocks = []
        for count in np.unique(size).tolist():
            numbers = np.flatnonzero(size == count)
            blocks.append((numbers, order[start[numbers][:, None] + np.arange(count)]))
        return cls(group, size, tuple(blocks))


def group_rows(*columns: npt.NDArray[np.integer]) -> tuple[Numbers, Numbers]:
    """Number the distinct keys, in their order. columns: shape (n,) each, not negative.

    Returns the number of each row, shape (n,), and a row of each number, shape (m,).
    """
    number = _dense(columns[0])
    for column in columns[1:]:
        dense = _dense(column)
        number = _dense(number * (int(dense.max(initial=0)) + 1) + dense)
    row = np.empty(int(number.max(initial=-1)) + 1, dtype=np.int64)
    row[number[::-1]] = np.arange(len(number))[::-1]
    return number, row


def distinct(codes: npt.NDArray[np.integer]) -> set[int]:
    """The values that occur. codes: shape (n,), not negative."""
    return set(codes[group_rows(codes)[1]].tolist())


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
