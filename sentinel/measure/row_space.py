"""Numbered rows that are used again, and columns of values by row."""

from typing import Generic, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

__all__ = ["Column", "RowSpace", "Rows"]

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)


class RowSpace:
    """Rows 0 … n − 1. One that is retired holds nothing any more, and is the first to be given away again.

    So what was learnt of series that are gone takes no memory for good: there are as many rows as there were series at
    once.
    """

    def __init__(self) -> None:
        self._is_live = np.empty(0, dtype=bool)
        self._columns: list[Column[np.generic]] = []

    def __len__(self) -> int:
        """How many there are, retired ones among them."""
        return len(self._is_live)

    @property
    def live(self) -> Rows:
        """Those that are given away, in their order."""
        return np.flatnonzero(self._is_live)

    def take(self, count: int) -> Rows:
        """Rows for that many series: retired ones, and then new ones."""
        retired = np.flatnonzero(~self._is_live)[:count]
        new = np.arange(len(self), len(self) + count - len(retired))
        self._is_live = np.append(self._is_live, np.ones(len(new), dtype=bool))
        self._is_live[retired] = True
        return np.concatenate([retired, new])

    def retire(self, rows: Rows) -> None:
        """Take rows back: all columns hold their fill there. Whoever still has a number of one must not use it."""
        self._is_live[rows] = False
        for column in self._columns:
            column[rows] = column.fill

    def attach(self, column: "Column[T]") -> None:
        """Clear this column as well when rows are retired; every column does so itself."""
        self._columns.append(column)  # type: ignore[arg-type]


class Column(Generic[T]):
    """One value a row of a space, or an array of `shape`; `fill` where nothing was written since it was given away."""

    @overload
    def __init__(self: "Column[np.float64]", space: RowSpace, fill: float, shape: tuple[int, ...] = ()) -> None: ...

    @overload
    def __init__(
        self,
        space: RowSpace,
        fill: float,
        shape: tuple[int, ...] = (),
        *,
        dtype: type[T],
        order: Literal["C", "F"] = "C",
    ) -> None: ...

    def __init__(
        self,
        space: RowSpace,
        fill: float,
        shape: tuple[int, ...] = (),
        *,
        dtype: type[np.generic] = np.float64,
        order: Literal["C", "F"] = "C",
    ) -> None:
        """`order` F: what is at one place of many rows' arrays lies together in memory."""
        self.fill = fill
        self._space = space
        self._order = order
        self._values: npt.NDArray[T] = np.empty((0, *shape), dtype=dtype, order=order)
        space.attach(self)

    @property
    def values(self) -> npt.NDArray[T]:
        """Those of all rows, shape (n, …), to read and to write until rows are given away again."""
        size = len(self._space)
        if size > len(self._values):
            # Doubled, so that growth costs little over time.
            shape = (max(size, 2 * len(self._values), 64), *self._values.shape[1:])
            wider = np.full(shape, self.fill, dtype=self._values.dtype, order=self._order)
            wider[: len(self._values)] = self._values
            self._values = wider
        return self._values[:size]

    def __getitem__(self, rows: Rows | Flags | int) -> npt.NDArray[T]:
        return self.values[rows]

    def __setitem__(self, rows: Rows | Flags | int, values: npt.ArrayLike) -> None:
        self.values[rows] = values
