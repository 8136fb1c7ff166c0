"""What each row of a table is about, and which rows belong together by it: kept while the rows stay the same."""

from collections import deque
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, Numbers, group_rows
from sentinel.measure.index import same_columns
from sentinel.model.vocabulary import Codes

__all__ = ["CELL", "CellLabelled", "LabelReader", "Labelled", "Labels"]

Flags = npt.NDArray[np.bool_]

CELL = ("comm", "op", "size", "algo", "proto")

_PARTS_KEPT = 2


class Labels:
    """Columns of codes by name, each of shape (n,), that stay as they are.

    Rows are mostly the same from tick to tick. Whoever is given the same labels again has their groups at once.
    """

    def __init__(self, **columns: Codes) -> None:
        self._columns = columns
        self._groups: dict[tuple[str, ...], Groups] = {}
        self._parts: deque[tuple[Flags, Labels]] = deque(maxlen=_PARTS_KEPT)
        self._whole: tuple[Labels, Flags] | None = None  # what these are a part of

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> Codes:
        return self._columns[name]

    @property
    def columns(self) -> tuple[Codes, ...]:
        """All of them, in their order."""
        return tuple(self._columns.values())

    def groups(self, *names: str) -> Groups:
        """The rows that have the same labels in these columns, in the order of the labels."""
        if names not in self._groups:
            self._groups[names] = Groups.of_rows(self._numbered(names))
        return self._groups[names]

    def among(self, name: str, codes: Collection[int]) -> Flags:
        """Which rows have one of these codes in a column. Shape (n,)."""
        groups = self.groups(name)
        wanted = np.fromiter(codes, dtype=np.int64, count=len(codes))
        return np.isin(self._columns[name][groups.first], wanted)[groups.of]

    def distinct(self, name: str) -> set[int]:
        """The codes that occur in a column."""
        return set(self._columns[name][self.groups(name).first].tolist())

    def where(self, kept: Flags) -> "Labels":
        """Those of some rows. kept: shape (n,), stays as it is. The same again for the same rows."""
        if kept.all():
            return self
        for flags, part in self._parts:
            if np.array_equal(flags, kept):
                return part
        part = Labels(**{name: column[kept] for name, column in self._columns.items()})
        part._whole = (self, kept)
        self._parts.append((kept, part))
        return part

    def _numbered(self, names: tuple[str, ...]) -> Numbers:
        if self._whole is None:
            return group_rows(*(self._columns[name] for name in names))[0]
        labels, kept = self._whole
        return group_rows(labels.groups(*names).of[kept])[0]


class LabelReader:
    """Recognizes the labels of the tick before."""

    def __init__(self) -> None:
        self._last: Labels | None = None

    def read(self, **columns: Codes) -> Labels:
        """The labels in these columns; the same object as before where nothing has changed."""
        if self._last is None or not same_columns(tuple(columns.values()), self._last.columns):
            self._last = Labels(**columns)
        return self._last


class Labelled:
    """A table whose rows are about a rank of a communicator and an operation."""

    labels: Labels

    @property
    def comm(self) -> Codes:
        """Of each row."""
        return self.labels["comm"]

    @property
    def rank(self) -> Codes:
        """Of each row."""
        return self.labels["rank"]

    @property
    def op(self) -> Codes:
        """Of each row."""
        return self.labels["op"]


class CellLabelled(Labelled):
    """A table whose rows are about a rank in a cell."""

    @property
    def size(self) -> Codes:
        """Of each row."""
        return self.labels["size"]

    @property
    def algo(self) -> Codes:
        """Of each row."""
        return self.labels["algo"]

    @property
    def proto(self) -> Codes:
        """Of each row."""
        return self.labels["proto"]
