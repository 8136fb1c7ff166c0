"""Window means made into counters, which is what detection subtracts."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Counters", "InspectorCounters", "Reading"]


@dataclass(frozen=True)
class Reading:
    """What one series says at an instant. `group` and `cell` tell which are compared; `series` is unique.

    `microseconds` is the arithmetic mean of a window's durations, `bandwidth` the geometric one of their bus
    bandwidths, NaN where there is none.
    """

    series: tuple[int, ...]
    group: str
    cell: tuple[int, ...]
    microseconds: float
    bandwidth: float


@dataclass
class Counters:
    """Of one series, as `CellTable` has them; `changed_at` is the Unix time at which it last said something new."""

    operations: float
    seconds: float
    log_microseconds: float
    changed_at: float
    said: tuple[float, float]


class InspectorCounters:
    """Adds up windows. A file keeps its last values until there are new ones, so only what has changed counts.

    **How many operations** a window had is not known. Each counts as if its communicator's cells were used equally
    often, one after the other, all the time: cost is then a share of the time inside that communicator's collectives,
    and at least their share of the job's time where the cells are used equally often.

    **Geometric means** of durations follow from those of bandwidths: all ranks of a cell move the same bytes, so that
    bandwidth times geometric mean is the same number for all. It is not above any rank's bandwidth times arithmetic
    mean; the smallest of these is taken for it, which is exact where one rank's durations do not scatter, and shifts
    all ranks by the same factor where they do.
    """

    def __init__(self) -> None:
        self._counters: dict[tuple[int, ...], Counters] = {}
        self._moved_at: dict[str, float] = {}  # by group: when a member last said something new
        self._time: float | None = None

    def step(self, time: float, readings: Sequence[Reading]) -> list[Counters]:
        """The counters of each of the readings of an instant (Unix seconds), later than the last."""
        fresh = [reading for reading in readings if self._is_new(reading)]
        lengths = self._lengths(time, fresh)
        cells: dict[tuple[str, tuple[int, ...]], list[Reading]] = defaultdict(list)
        for reading in fresh:
            cells[reading.group, reading.cell].append(reading)
        cycle: dict[str, float] = defaultdict(float)  # seconds that one operation of each cell takes
        for (group, _), members in cells.items():
            cycle[group] += 1e-6 * median(reading.microseconds for reading in members)
        for (group, _), members in cells.items():
            operations = lengths[group] / cycle[group]
            products = [reading.microseconds * reading.bandwidth for reading in members if reading.bandwidth > 0]
            product = min(products, default=math.nan)
            for reading in members:
                self._add(time, reading, operations, product)
        self._time = time
        return [self._counters[reading.series] for reading in readings]

    def _is_new(self, reading: Reading) -> bool:
        known = self._counters.get(reading.series)
        return known is None or known.said != _said(reading)

    def _lengths(self, time: float, fresh: Sequence[Reading]) -> dict[str, float]:
        """Seconds since each group that says something new did so before."""
        before = self._moved_at
        first = time if self._time is None else self._time
        lengths = {reading.group: max(time - before.get(reading.group, first), 1.0) for reading in fresh}
        self._moved_at = {**before, **dict.fromkeys(lengths, time)}
        return lengths

    def _add(self, time: float, reading: Reading, operations: float, product: float) -> None:
        geometric = product / reading.bandwidth if reading.bandwidth > 0 else reading.microseconds
        logarithm = math.log(max(1.0, min(geometric, reading.microseconds)))
        known = self._counters.setdefault(reading.series, Counters(0.0, 0.0, 0.0, time, (math.nan, math.nan)))
        known.operations += operations
        known.seconds += operations * 1e-6 * reading.microseconds
        known.log_microseconds += operations * logarithm
        known.changed_at, known.said = time, _said(reading)


def _said(reading: Reading) -> tuple[float, float]:
    return reading.microseconds, reading.bandwidth if reading.bandwidth > 0 else 0.0
