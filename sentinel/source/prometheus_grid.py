"""One answer as arrays: a row per series, a column per instant. An instant query is a grid of one column."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes
from sentinel.source.prometheus_answer import Answer, Series
from sentinel.source.prometheus_labels import LabelReader, LabelSet

__all__ = ["Axis", "Floats", "Grid", "Rows", "columns_of", "read_grid"]

Floats = npt.NDArray[np.float64]
Rows = tuple[Codes, tuple[Floats, ...]]
"""Keys of shape (n, labels), and an array of shape (n,) per metric."""


@dataclass(frozen=True)
class Axis:
    """Instants in Unix milliseconds: start, start + step, …; `count` of them. `instant` tells which query was asked."""

    start: int
    step: int
    count: int
    instant: bool = False

    @property
    def end(self) -> int:
        """The last instant."""
        return self.start + self.step * (self.count - 1)


@dataclass(frozen=True)
class Grid:
    """`keys` has shape (rows, labels); `values` one array per metric of shape (rows, instants), NaN where nothing is.

    `malformed` counts, by instant, the series that were left out. No key is there twice.
    """

    keys: Codes
    values: tuple[Floats, ...]
    malformed: npt.NDArray[np.int64]
    warnings: tuple[str, ...]

    def at(self, column: int) -> Rows:
        """Keys and values of the rows that have any value at that instant."""
        values = tuple(value[:, column] for value in self.values)
        present = ~np.isnan(values[0])
        for value in values[1:]:
            present |= ~np.isnan(value)
        if present.all():
            return self.keys, values
        return self.keys[present], tuple(value[present] for value in values)


def read_grid(
    answer: Answer, labels: LabelSet, reader: LabelReader, axis: Axis, metrics: Sequence[str] = ("",)
) -> Grid:
    """Sort the series into rows by their labels, and into the arrays by their metric's name where there are several.

    Values are counters, ages and ones: what is not finite or below zero is left out and counted.
    """
    slots = {name: slot for slot, name in enumerate(metrics)}
    columns = reader.columns(labels)
    rows: dict[tuple[int, ...], int] = {}
    collect = _Instant(len(metrics)) if axis.instant else _Range(len(metrics), answer.count, axis)
    single = len(metrics) == 1
    for series in answer.series:
        slot, row = None, None
        try:
            metric = series["metric"]
            slot = 0 if single else slots.get(metric.get("__name__"))
            key = columns(metric) if slot is not None else None
        except (KeyError, TypeError, AttributeError):
            key = None
        if key is not None:
            row = rows.setdefault(key, len(rows))
        collect.add(series, slot or 0, row)
    keys = np.array(list(rows), dtype=np.int32).reshape(len(rows), len(labels))
    values, malformed = collect.arrays(len(rows))
    return Grid(keys, values, malformed, answer.warnings)


class _Instant:
    """Collects vectors: lists first, since a million tiny array operations are slow."""

    def __init__(self, metrics: int) -> None:
        self._rows: tuple[list[int], ...] = tuple([] for _ in range(metrics))
        self._values: tuple[list[float], ...] = tuple([] for _ in range(metrics))
        self._malformed = 0

    def add(self, series: Series, slot: int, row: int | None) -> None:
        try:
            value = float(series["value"][1])
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            value = math.nan
        if row is None or not 0.0 <= value < math.inf:
            self._malformed += 1
            return
        self._rows[slot].append(row)
        self._values[slot].append(value)

    def arrays(self, rows: int) -> tuple[tuple[Floats, ...], npt.NDArray[np.int64]]:
        arrays = []
        for indices, values in zip(self._rows, self._values, strict=True):
            array = np.full((rows, 1), np.nan)
            array[indices, 0] = values
            arrays.append(array)
        return tuple(arrays), np.array([self._malformed])


class _Range:
    """Collects matrices, straight into arrays."""

    def __init__(self, metrics: int, series: int, axis: Axis) -> None:
        self._axis = axis
        self._arrays = tuple(np.full((series, axis.count), np.nan) for _ in range(metrics))
        self._malformed = np.zeros(axis.count, dtype=np.int64)

    def add(self, series: Mapping[str, Any], slot: int, row: int | None) -> None:
        try:
            samples = series["values"]
            columns = columns_of(np.array([sample[0] for sample in samples], dtype=np.float64), self._axis)
            values = np.array([float(sample[1]) for sample in samples])
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            self._malformed += 1
            return
        sound = (values >= 0.0) & (values < math.inf)
        if row is None:
            sound[:] = False
        else:
            self._arrays[slot][row, columns[sound]] = values[sound]
        self._malformed[columns[~sound]] += 1

    def arrays(self, rows: int) -> tuple[tuple[Floats, ...], npt.NDArray[np.int64]]:
        return tuple(array[:rows] for array in self._arrays), self._malformed


def columns_of(times: Floats, axis: Axis) -> npt.NDArray[np.int64]:
    """Which instant each sample is of. ValueError for a time (Unix seconds) that was not asked for."""
    with np.errstate(over="ignore"):
        milliseconds = np.rint(times * 1000.0)
    # Past 2^53 a double no longer tells milliseconds apart; that also keeps NaN and infinities from the cast.
    if not (np.abs(milliseconds) < 2.0**53).all():
        raise ValueError("a time that is none")
    columns, rest = np.divmod(milliseconds.astype(np.int64) - axis.start, axis.step)
    if rest.any() or (columns < 0).any() or (columns >= axis.count).any():
        raise ValueError("a sample of another instant")
    return columns
