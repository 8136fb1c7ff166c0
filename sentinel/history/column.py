"""One communicator over one stretch of time: a number for each rank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentinel.measure.lateness import Lateness

__all__ = ["Column", "Floats", "RankMeans", "Ranks", "Said", "measure_ranks", "median_column", "said_in"]

Floats = npt.NDArray[np.float32]
Ranks = npt.NDArray[np.int32]

_STALLED = "stalled"


@dataclass(frozen=True, slots=True)
class RankMeans:
    """Seconds per operation of each rank, over its cells. `ranks` ascend; all have shape (n,).

    Cells are weighted by their operations per second, which is one number for all ranks of a cell: ranks that are in
    the same cells can be compared.
    """

    ranks: Ranks
    lateness_seconds: Floats
    duration_seconds: Floats

    @classmethod
    def empty(cls) -> "RankMeans":
        """Nothing measured."""
        return cls(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32), np.empty(0, dtype=np.float32))


class Said(NamedTuple):
    """A column without what was measured."""

    time: float
    state: str
    findings: int

    @property
    def loud(self) -> bool:
        """Whether there is something to look at."""
        return bool(self.findings) or self.state == _STALLED


@dataclass(frozen=True, slots=True)
class Column:
    """A tick, or the medians of a bin. `time` is its end, Unix seconds; `findings` are the verdicts that held in it."""

    time: float
    state: str
    findings: int
    means: RankMeans

    @property
    def said(self) -> Said:
        """Without what was measured."""
        return Said(self.time, self.state, self.findings)


def measure_ranks(lateness: Lateness) -> dict[int, RankMeans]:
    """By the code of the communicator, for those in which anything was measured."""
    if not len(lateness.labels):
        return {}
    ranks = lateness.labels.groups("comm", "rank")
    weight = np.bincount(ranks.of, lateness.rate, len(ranks))
    late, duration = (
        (np.bincount(ranks.of, lateness.rate * seconds, len(ranks)) / weight).astype(np.float32)
        for seconds in (lateness.lateness_seconds, lateness.duration_seconds)
    )
    comm, rank = lateness.comm[ranks.first], lateness.rank[ranks.first]
    order = np.lexsort((rank, comm))
    codes, starts = np.unique(comm[order], return_index=True)
    found = {}
    for code, rows in zip(codes.tolist(), np.split(order, starts[1:]), strict=True):
        found[code] = RankMeans(rank[rows].astype(np.int32), late[rows], duration[rows])
    return found


def said_in(time: float, ticks: Sequence[Said]) -> Said:
    """What was said in a bin that ends at a Unix time: the most findings at once, and the state that was most often.

    A stall is told however short it was.
    """
    states = dict.fromkeys(each.state for each in ticks)
    counted = {state: sum(each.state == state for each in ticks) for state in states}
    state = _STALLED if _STALLED in counted else max(counted, key=lambda each: counted[each])
    return Said(time, state, max(each.findings for each in ticks))


def median_column(time: float, columns: Sequence[Column]) -> Column:
    """The columns of a bin as one: medians by rank, and what was said in it."""
    said = said_in(time, [column.said for column in columns])
    measured = [column.means for column in columns if len(column.means.ranks)]
    means = RankMeans.empty()
    if measured:
        ranks = measured[0].ranks
        if any(each.ranks is not ranks and not np.array_equal(each.ranks, ranks) for each in measured):
            ranks = np.unique(np.concatenate([each.ranks for each in measured]))
        means = RankMeans(
            ranks,
            _median([_placed(each.ranks, each.lateness_seconds, ranks) for each in measured]),
            _median([_placed(each.ranks, each.duration_seconds, ranks) for each in measured]),
        )
    return Column(said.time, said.state, said.findings, means)


def _placed(ranks: Ranks, values: Floats, wanted: Ranks) -> Floats:
    if ranks is wanted or np.array_equal(ranks, wanted):
        return values
    row = np.full(len(wanted), np.nan, dtype=np.float32)
    row[np.searchsorted(wanted, ranks)] = values
    return row


def _median(rows: Sequence[Floats]) -> Floats:
    """By rank, of what is known; NaN where nothing is."""
    ordered = np.sort(np.stack(rows), axis=0)  # NaN comes last
    known = np.count_nonzero(~np.isnan(ordered), axis=0)
    lower, upper = np.maximum(known - 1, 0) // 2, known // 2
    place = np.arange(ordered.shape[1])
    middle = (ordered[lower, place] + ordered[np.minimum(upper, len(rows) - 1), place]) / 2
    return np.where(known > 0, middle, np.nan).astype(np.float32)
