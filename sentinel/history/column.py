"""One communicator over one stretch of time: a number for each rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.lateness import Lateness

__all__ = ["Column", "Floats", "RankMeans", "measure_ranks", "median_column"]

Floats = npt.NDArray[np.float32]
Ranks = npt.NDArray[np.int32]

_STALLED = "stalled"
_OBJECT_BYTES = 500  # of a column with its arrays, without what is in them


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Column:
    """A tick, or the medians of a bin. `time` is its end, Unix seconds; `findings` are the verdicts that held in it."""

    time: float
    state: str
    findings: int
    means: RankMeans

    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        means = self.means
        return _OBJECT_BYTES + means.ranks.nbytes + means.lateness_seconds.nbytes + means.duration_seconds.nbytes


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


def median_column(time: float, columns: Sequence[Column]) -> Column:
    """The columns of a bin as one: medians by rank, the most findings at once, and the state that was most often.

    A stall is told however short it was.
    """
    states: Mapping[str, int] = {column.state: 0 for column in columns}
    counted = {state: sum(column.state == state for column in columns) for state in states}
    state = _STALLED if _STALLED in counted else max(counted, key=lambda each: counted[each])
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
    return Column(time, state, max(column.findings for column in columns), means)


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
