"""Which series the rows of a table count in, and how series are folded into one without a jump."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter.model import Key, Series
from nccl_exporter.rows import Rows, Values

Fold = Callable[[Key], Key]


class Grouping:
    """The series that one communicator's rows of one table make.

    A row that moves to another series takes along only what it counts from then on, so that no series jumps or falls:
    what was published under its first name is not published again under the second.
    """

    def __init__(self, rows: Rows, columns: list[int], template: str) -> None:
        self._rows: Final = rows
        self._columns: Final = columns
        self._template: Final = template  # takes the escaped parts of a key, in order
        self._place: NDArray[np.intp] = np.full(rows.known.size, -1)
        self._keys: list[Key] = []
        self._labels: list[str] = []
        self._places: dict[Key, int] = {}
        self._is_published: list[bool] = []
        self._moved: dict[Key, Key] = {}
        self._carried: Values | None = None

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def admit(self, row: int, key: Key) -> None:
        """A row begins to count."""
        while key in self._moved:
            key = self._moved[key]
        self._place[row] = self._place_of(key)

    def fold(self, key: Key, target: Key) -> None:
        """The series `key` ends for as long as the communicator lives: `target` counts on."""
        place = self._places.pop(key)
        moved = np.flatnonzero(self._place == place)
        if self._carried is None:
            self._carried = np.zeros_like(self._rows.values)
        self._carried[moved] = self._rows.published[moved]
        self._moved[key] = target
        self._place[moved] = self._place_of(target)

    def foldable(self, fold: Fold) -> Iterator[tuple[bool, float, Key, Key]]:
        """Series that are not folded yet: whether published, operations counted, key, and what it would fold into."""
        totals = self._totals()
        for key, place in self._places.items():
            if (target := fold(key)) != key:
                yield self._is_published[place], float(totals[place, 0]), key, target

    def series(self) -> Series:
        """The series and their values as they are published now."""
        places = list(self._places.values())
        for place in places:
            self._is_published[place] = True
        totals = self._totals()
        if len(places) != len(totals):
            totals = totals[places]
        return Series(tuple(self._places), [self._labels[place] for place in places], totals.tolist())

    def _place_of(self, key: Key) -> int:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._keys)
            self._keys.append(key)
            self._labels.append(self._template % key)
            self._is_published.append(False)
        return place

    def _totals(self) -> Values:
        """Sums by place; the first column counts operations."""
        totals: Values = np.zeros((len(self._keys), len(self._columns)))
        rows = np.flatnonzero(self._place >= 0)
        if rows.size:
            values = self._rows.values[rows][:, self._columns]
            if self._carried is not None:
                values -= self._carried[rows][:, self._columns]
            np.add.at(totals, self._place[rows], values)
        return totals
