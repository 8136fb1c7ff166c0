"""A rank's cells, each for itself and together, as seconds of waiting per second."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sentinel.detect.own_history import Reference
from sentinel.measure.groups import Groups, group_rows
from sentinel.measure.lateness import Lateness
from sentinel.measure.peers import group_mad, group_median

__all__ = ["MIN_PEERS", "Excess", "Mean", "Pairs", "Pool", "cell_excess", "pool_cells"]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

MIN_PEERS = 4  # members that a communicator needs for the spread among them to mean something


class Mean(IntEnum):
    """Of which means of durations lateness is.

    Rare hiccups do not move the geometric one. A rank that is late in one of many operations of a cell, the first of
    its step, moves it little as well, and the arithmetic one in full.
    """

    GEOMETRIC = 0
    ARITHMETIC = 1


@dataclass(frozen=True)
class Pairs:
    """The (communicator, rank) pairs to be judged.

    `comm`, `rank`: shape (r,). `place`, `of_place` have one entry for each row of lateness that takes part.
    """

    comm: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    place: Numbers  # which rows of lateness take part
    of_place: Numbers  # the pair that each of them belongs to

    @classmethod
    def among(cls, lateness: Lateness, judged: npt.NDArray[np.bool_]) -> "Pairs":
        """The pairs in the rows that `judged` selects."""
        place = np.flatnonzero(judged)
        comm, rank = lateness.comm[place], lateness.rank[place]
        of_place, first = group_rows(comm, rank)
        return cls(comm[first], rank[first], place, of_place)


@dataclass(frozen=True)
class Excess:
    """Lateness beyond the expected, one value a pair or a cell of a pair, shape (r,).

    Ratios are seconds of waiting per second of the job.
    """

    excess_ratio: Floats
    spread_ratio: Floats  # its standard deviation
    # The largest lateness in one cell, per operation, beyond the expected and beyond its peers'; 0 without cells. Who
    # comes with its peers makes nobody wait, however early it was before.
    largest_seconds: Floats
    stands_out: Floats  # excess from the median of its group, in robust standard deviations; NaN below MIN_PEERS

    @property
    def sigmas(self) -> Floats:
        """Excess in standard deviations; 0 for a pair without cells."""
        return np.divide(
            self.excess_ratio, self.spread_ratio, out=np.zeros_like(self.excess_ratio), where=self.spread_ratio > 0
        )


@dataclass(frozen=True)
class Pool(Excess):
    """The same of all cells of each pair together."""

    wait_ratio: Floats  # of arithmetic means, over the cells in which it is late: what it costs


def cell_excess(
    lateness: Lateness, expected: Reference, place: Numbers, noise_floor_ratio: float, mean: Mean = Mean.GEOMETRIC
) -> Excess:
    """The rows of lateness that `place`, shape (r,), names, each for itself: compared with the ranks of its cell."""
    rate = lateness.rate[place]
    excess, noise, floor = _terms(lateness, expected, place, noise_floor_ratio, mean)
    excess_ratio, spread_ratio = excess * rate, np.hypot(noise, floor) * rate
    apart = _stands_out(excess_ratio, spread_ratio, lateness.cell[place])
    return Excess(excess_ratio, spread_ratio, np.minimum(excess, _late(lateness, place, mean)), apart)


def pool_cells(
    lateness: Lateness,
    expected: Reference,
    pairs: Pairs,
    taken: npt.NDArray[np.bool_],
    noise_floor_ratio: float,
    mean: Mean = Mean.GEOMETRIC,
) -> Pool:
    """Pool the rows that `taken`, shape (n,), selects, each by its operations per second.

    What a rank's cells scatter by from tick to tick is noise, independent between cells: it adds up in quadrature. The
    floor, `noise_floor_ratio` of the operations' durations, stands for what moves all of them together: it adds up.
    """
    chosen = taken[pairs.place]
    place, pair = pairs.place[chosen], pairs.of_place[chosen]
    count = len(pairs.comm)
    rate = lateness.rate[place]
    terms = {each: _terms(lateness, expected, place, noise_floor_ratio, each) for each in Mean}
    excess, noise, floor = terms[mean]
    # A cell in which the rank is not late earns it nothing back: what waits there is noise, or for somebody else.
    late = np.any([excess > np.hypot(noise, floor) for excess, noise, floor in terms.values()], axis=0)
    wait = np.where(late, terms[Mean.ARITHMETIC][0], 0.0)
    largest = np.zeros(count)
    np.maximum.at(largest, pair, np.minimum(excess, _late(lateness, place, mean)))

    def summed(values: Floats) -> Floats:
        return np.bincount(pair, weights=values, minlength=count).astype(np.float64)

    excess_ratio = summed(excess * rate)
    spread_ratio = np.hypot(np.sqrt(summed((noise * rate) ** 2)), summed(floor * rate))
    # Among the pairs that have cells in this pool.
    present = np.flatnonzero(np.bincount(pair, minlength=count))
    stands_out = np.full(count, np.nan)
    stands_out[present] = _stands_out(excess_ratio[present], spread_ratio[present], pairs.comm[present])
    return Pool(excess_ratio, spread_ratio, largest, stands_out, summed(wait * rate))


def _terms(
    lateness: Lateness, expected: Reference, place: Numbers, noise_floor_ratio: float, mean: Mean
) -> tuple[Floats, Floats, Floats]:
    """Lateness beyond the expected, its noise, and the floor of that; seconds per operation."""
    if mean is Mean.ARITHMETIC:
        duration, late = lateness.mean_seconds[place], lateness.wait_seconds[place]
        normal, noise = expected.wait_seconds[place], expected.wait_spread_seconds[place]
    else:
        duration, late = lateness.duration_seconds[place], lateness.lateness_seconds[place]
        normal, noise = expected.lateness_seconds[place], expected.spread_seconds[place]
    return late - normal, noise, noise_floor_ratio * (duration + np.maximum(0.0, late))


def _late(lateness: Lateness, place: Numbers, mean: Mean) -> Floats:
    """How much later than its peers, seconds per operation."""
    return (lateness.wait_seconds if mean is Mean.ARITHMETIC else lateness.lateness_seconds)[place]


def _stands_out(excess: Floats, spread: Floats, keys: npt.NDArray[np.integer]) -> Floats:
    """How far each value is from the median of those with the same key."""
    if not len(excess):
        return np.empty(0)
    groups = Groups.of_rows(group_rows(keys)[0])
    middle = group_median(excess, groups)
    # The median of the spreads is the floor: a MAD of zero is a normal case.
    scale = np.maximum(group_mad(excess, groups, middle), group_median(spread, groups))
    distance = (excess - middle[groups.of]) / np.maximum(scale, np.finfo(float).tiny)[groups.of]
    return np.where(groups.size[groups.of] >= MIN_PEERS, distance, np.nan)
