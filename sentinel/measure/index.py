"""A row number for every series, kept between ticks."""

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes

__all__ = ["Rows", "SeriesIndex", "grown"]

Rows = npt.NDArray[np.int64]


class SeriesIndex:
    """Gives each distinct key a row number, once and for all, in the order in which keys are first seen.

    From tick to tick the series of a job are the same in the same order, so the last answer is kept and compared first.
    """

    def __init__(self) -> None:
        self._row: dict[tuple[int, ...], int] = {}
        self._keys: list[tuple[int, ...]] = []
        self._last_keys: npt.NDArray[np.int32] | None = None
        self._last_rows: Rows = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._row)

    def rows(self, *columns: Codes) -> Rows:
        """The row numbers of keys given as columns, each of shape (n,)."""
        keys = np.stack(columns, axis=1)
        if self._last_keys is None or not np.array_equal(keys, self._last_keys):
            row = self._row
            self._last_rows = np.fromiter(
                (row.setdefault(tuple(key), len(row)) for key in keys.tolist()), dtype=np.int64, count=len(keys)
            )
            self._last_keys = keys
        return self._last_rows

    def keys(self, rows: Rows) -> list[tuple[int, ...]]:
        """The keys of row numbers."""
        if len(self._keys) < len(self._row):
            self._keys = list(self._row)
        return [self._keys[row] for row in rows.tolist()]


def grown(array: npt.NDArray[np.float64], size: int, fill: float) -> npt.NDArray[np.float64]:
    """`array` with at least `size` rows; new ones hold `fill`. Doubles, so that growth costs little over time."""
    if size <= len(array):
        return array
    wider = np.full((max(size, 2 * len(array), 64), *array.shape[1:]), fill)
    wider[: len(array)] = array
    return wider
