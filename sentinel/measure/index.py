"""A row number for every series, kept between ticks."""

from collections.abc import Collection, Sequence

import numpy as np

from sentinel.measure.groups import group_rows
from sentinel.measure.row_space import Column, Rows, RowSpace
from sentinel.model.vocabulary import Codes

__all__ = ["SeriesIndex", "same_columns"]


class SeriesIndex(RowSpace):
    """Gives each distinct key a row until it is retired: in the order in which keys are first seen, if none ever is.

    From tick to tick the series of a job are the same in the same order, so the last answer is kept and compared first.
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[Column[np.int64], ...] = ()  # the parts of every key
        self._last: tuple[tuple[Codes, ...], Rows] | None = None

    def rows(self, *columns: Codes) -> Rows:
        """The rows of keys given as columns, each of shape (n,), that stay as they are."""
        if self._last is None or not same_columns(columns, self._last[0]):
            self._last = (columns, self._numbered(columns))
        return self._last[1]

    def keys(self, rows: Rows) -> list[tuple[int, ...]]:
        """The keys of rows, none of them retired."""
        return list(zip(*(column[rows].tolist() for column in self._keys), strict=True))

    def retire(self, rows: Rows) -> None:
        """Take rows back: their keys are not known any more."""
        super().retire(rows)
        self._last = None

    def forget(self, codes: Collection[int]) -> None:
        """Retire all rows whose keys begin with one of these, such as communicators that are over."""
        if self._keys:
            live = self.live
            over = live[np.isin(self._keys[0][live], np.fromiter(codes, dtype=np.int64, count=len(codes)))]
            if len(over):
                self.retire(over)

    def _numbered(self, columns: tuple[Codes, ...]) -> Rows:
        self._keys = self._keys or tuple(Column(self, 0, dtype=np.int64) for _ in columns)
        live = self.live
        together = [
            np.concatenate([known[live], each], dtype=np.int64) for known, each in zip(self._keys, columns, strict=True)
        ]
        number, first = group_rows(*(each - min(0, each.min(initial=0)) for each in together))
        is_new = first >= len(live)
        new = np.sort(first[is_new])
        taken = self.take(len(new))
        for known, each in zip(self._keys, together, strict=True):
            known[taken] = each[new]
        row = np.empty(len(first), dtype=np.int64)
        row[~is_new] = live[first[~is_new]]
        row[is_new] = taken[np.searchsorted(new, first[is_new])]
        rows: Rows = row[number[len(live) :]]
        return rows


def same_columns(some: Sequence[Codes], others: Sequence[Codes]) -> bool:
    """Whether columns hold the same. Those that are one array need not be compared."""
    return all(one is other or np.array_equal(one, other) for one, other in zip(some, others, strict=True))
