"""A row number for every series, kept between ticks."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.model.vocabulary import Codes

__all__ = ["Rows", "SeriesIndex", "grown", "same_columns"]

Rows = npt.NDArray[np.int64]


class SeriesIndex:
    """Gives each distinct key a row number, once and for all, in the order in which keys are first seen.

    From tick to tick the series of a job are the same in the same order, so the last answer is kept and compared first.
    """

    def __init__(self) -> None:
        self._known: tuple[Rows, ...] = ()  # the parts of every key, by row
        self._size = 0
        self._last: tuple[tuple[Codes, ...], Rows] | None = None

    def __len__(self) -> int:
        return self._size

    def rows(self, *columns: Codes) -> Rows:
        """The row numbers of keys given as columns, each of shape (n,), that stay as they are."""
        if self._last is None or not same_columns(columns, self._last[0]):
            self._last = (columns, self._numbered(columns))
        return self._last[1]

    def keys(self, rows: Rows) -> list[tuple[int, ...]]:
        """The keys of row numbers."""
        return list(zip(*(column[rows].tolist() for column in self._known), strict=True))

    def _numbered(self, columns: tuple[Codes, ...]) -> Rows:
        if not self._known:
            self._known = tuple(np.empty(0, dtype=np.int64) for _ in columns)
        together = [np.concatenate(each, dtype=np.int64) for each in zip(self._known, columns, strict=True)]
        number, first = group_rows(*(each - min(0, each.min(initial=0)) for each in together))
        is_new = first >= self._size
        new = np.sort(first[is_new])
        row = np.where(is_new, self._size + np.searchsorted(new, first), first)
        self._known = tuple(np.append(known, each[new]) for known, each in zip(self._known, together, strict=True))
        numbers: Rows = row[number[self._size :]]
        self._size += len(new)
        return numbers


def same_columns(some: Sequence[Codes], others: Sequence[Codes]) -> bool:
    """Whether columns hold the same. Those that are one array need not be compared."""
    return all(one is other or np.array_equal(one, other) for one, other in zip(some, others, strict=True))


def grown(array: npt.NDArray[np.float64], size: int, fill: float) -> npt.NDArray[np.float64]:
    """`array` with at least `size` rows; new ones hold `fill`. Doubles, so that growth costs little over time."""
    if size <= len(array):
        return array
    wider = np.full((max(size, 2 * len(array), 64), *array.shape[1:]), fill)
    wider[: len(array)] = array
    return wider
