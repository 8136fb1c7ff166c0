"""A rank's cells, each for itself and together, as seconds of waiting per second."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sentinel.detect.own_history import Reference
from sentinel.measure.groups import Groups, group_rows
from sentinel.measure.halves import HalvesReader
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.peers import group_mad, group_median

__all__ = ["MIN_PEERS", "Cells", "Excess", "Mean", "Pairs", "Peers", "Pool", "cell_excess", "pool_cells"]

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

    `comm`, `rank`, `side`: shape (r,). `place`, `of_place` have one entry for each row of lateness that takes part.
    """

    comm: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    side: Numbers  # on which of its communicator's two nodes; −1 where they are not two
    place: Numbers  # which rows of lateness take part
    of_place: Numbers  # the pair that each of them belongs to

    @classmethod
    def among(
        cls, lateness: Lateness, judged: npt.NDArray[np.bool_], halves: HalvesReader, membership: Membership
    ) -> "Pairs":
        """The pairs in the rows that `judged` selects."""
        labels = lateness.labels.where(judged)
        pairs = labels.groups("comm", "rank")
        comm, rank = labels["comm"][pairs.first], labels["rank"][pairs.first]
        return cls(comm, rank, halves.of(comm, rank, membership), np.flatnonzero(judged), pairs.of)


@dataclass(frozen=True)
class Peers:
    """With whom each of n values is compared: the median and the scatter of one of the `groups`."""

    groups: Groups
    asked: Numbers  # by value, shape (n,)

    @classmethod
    def of(cls, keys: npt.NDArray[np.integer], side: Numbers) -> "Peers":
        """Those with the same key; on one of two nodes those on the other, where they are enough.

        A whole node that is late is half of its communicator: among all of it nobody stands out.
        """
        number, _ = group_rows(keys)
        count = int(number.max(initial=-1)) + 1
        halves = [np.bincount(number[side == each], minlength=count) for each in (0, 1)]
        side = np.where((np.minimum(*halves) >= MIN_PEERS)[number], side, -1)
        # Two halves of a key have numbers that follow each other.
        number, _ = group_rows(number, side + 1)
        return cls(Groups.of_rows(number), number + (side == 0) - (side == 1))


@dataclass(frozen=True)
class Excess:
    """Lateness beyond the expected, one value a pair or a cell of a pair, shape (r,).

    Ratios are seconds of waiting per second of the job.
    """

    excess_ratio: Floats
    noise_ratio: Floats  # its standard deviation from tick to tick …
    autocorrelation: Floats  # … and how much of it lasts to the next one
    floor_ratio: Floats  # standard deviation that is always assumed beside it
    # The largest lateness in one cell, per operation, beyond the expected and beyond its peers'; 0 without cells. Who
    # comes with its peers makes nobody wait, however early it was before.
    largest_seconds: Floats
    apart_ratio: Floats  # excess beyond the median of its group; NaN below MIN_PEERS
    scatter_ratio: Floats  # robust standard deviation of its group
    group_spread_ratio: Floats  # median of the group's `spread_ratio`: a robust deviation of zero is a normal case

    def at(self, place: Numbers) -> "Excess":
        """Those of some, shape (m,)."""
        return Excess(*(getattr(self, each.name)[place] for each in fields(Excess)))

    @property
    def spread_ratio(self) -> Floats:
        """Standard deviation of the excess; 0 for a pair without cells."""
        return np.hypot(self.noise_ratio, self.floor_ratio)

    @property
    def sigmas(self) -> Floats:
        """Excess in standard deviations; 0 for a pair without cells."""
        spread = self.spread_ratio
        return np.divide(self.excess_ratio, spread, out=np.zeros_like(spread), where=spread > 0)

    @property
    def stands_out(self) -> Floats:
        """Excess from the median of its group, in robust standard deviations; NaN below MIN_PEERS."""
        scale = np.maximum(self.scatter_ratio, self.group_spread_ratio)
        return self.apart_ratio / np.maximum(scale, np.finfo(float).tiny)


@dataclass(frozen=True)
class Pool(Excess):
    """The same of all cells of each pair together."""

    wait_ratio: Floats  # of arithmetic means, over the cells in which it is late: what it costs


@dataclass(frozen=True)
class Terms:
    """Lateness by one mean, a value a cell of a pair, shape (n,); seconds per operation."""

    excess: Floats  # beyond the expected
    noise: Floats
    floor: Floats  # of the noise
    late: Floats  # beyond the peers
    autocorrelation: Floats

    @classmethod
    def of(
        cls, lateness: Lateness, expected: Reference, place: Numbers, noise_floor_ratio: float, mean: Mean
    ) -> "Terms":
        """Of the rows of lateness that `place` names."""
        if mean is Mean.ARITHMETIC:
            duration, late = lateness.mean_seconds[place], lateness.wait_seconds[place]
            normal, noise = expected.wait_seconds[place], expected.wait_spread_seconds[place]
            rho = expected.wait_autocorrelation[place]
        else:
            duration, late = lateness.duration_seconds[place], lateness.lateness_seconds[place]
            normal, noise = expected.lateness_seconds[place], expected.spread_seconds[place]
            rho = expected.autocorrelation[place]
        return cls(late - normal, noise, noise_floor_ratio * (duration + np.maximum(0.0, late)), late, rho)


@dataclass(frozen=True)
class Cells:
    """The cells of the pairs: their rows of lateness and their pairs, shape (n,), operations per second, and terms."""

    place: Numbers
    pair: Numbers
    rate: Floats
    terms: Mapping[Mean, Terms]

    @classmethod
    def of(
        cls,
        lateness: Lateness,
        expected: Reference,
        pairs: Pairs,
        taken: npt.NDArray[np.bool_],
        noise_floor_ratio: float,
    ) -> "Cells":
        """Those in the rows of lateness that `taken` selects."""
        chosen = taken[pairs.place]
        place = pairs.place[chosen]
        terms = {mean: Terms.of(lateness, expected, place, noise_floor_ratio, mean) for mean in Mean}
        return cls(place, pairs.of_place[chosen], lateness.rate[place], terms)


def cell_excess(cells: Cells, mean: Mean, peers: Peers) -> Excess:
    """The cells, each for itself: compared with its `peers`."""
    terms, rate = cells.terms[mean], cells.rate
    excess, noise, floor = terms.excess * rate, terms.noise * rate, terms.floor * rate
    largest = np.minimum(terms.excess, terms.late)
    apart = _apart(excess, np.hypot(noise, floor), peers)
    return Excess(excess, noise, terms.autocorrelation, floor, largest, *apart)


def pool_cells(cells: Cells, pairs: Pairs) -> list[Pool]:
    """Pool the cells of each pair, each by its operations per second; by `Mean`.

    What a rank's cells scatter by from tick to tick is noise, independent between cells: it adds up in quadrature. The
    floor, a share of the operations' durations, stands for what moves all of them together: it adds up.
    """
    pair, rate = cells.pair, cells.rate
    count = len(pairs.comm)
    # A cell in which the rank is not late earns it nothing back: what waits there is noise, or for somebody else.
    late = np.any([each.excess > np.hypot(each.noise, each.floor) for each in cells.terms.values()], axis=0)
    wait = np.where(late, cells.terms[Mean.ARITHMETIC].excess, 0.0)

    def summed(values: Floats) -> Floats:
        return np.bincount(pair, weights=values, minlength=count).astype(np.float64)

    wait_ratio = summed(wait * rate)
    # Among the pairs that have cells in this pool.
    present = np.flatnonzero(np.bincount(pair, minlength=count))
    peers = Peers.of(pairs.comm[present], pairs.side[present])

    def pooled(terms: Terms) -> Pool:
        largest = np.zeros(count)
        np.maximum.at(largest, pair, np.minimum(terms.excess, terms.late))
        excess_ratio, floor_ratio = summed(terms.excess * rate), summed(terms.floor * rate)
        variance = (terms.noise * rate) ** 2
        noise_variance = summed(variance)
        rho = np.divide(
            summed(variance * terms.autocorrelation), noise_variance, out=np.zeros(count), where=noise_variance > 0
        )
        noise_ratio = np.sqrt(noise_variance)
        apart = np.full((3, count), np.nan)
        apart[:, present] = _apart(excess_ratio[present], np.hypot(noise_ratio, floor_ratio)[present], peers)
        distance, scatter, spread = apart
        return Pool(excess_ratio, noise_ratio, rho, floor_ratio, largest, distance, scatter, spread, wait_ratio)

    return [pooled(cells.terms[mean]) for mean in Mean]


def _apart(excess: Floats, spread: Floats, peers: Peers) -> tuple[Floats, Floats, Floats]:
    """How far each value is from its peers' median, how far those scatter, and the median of their spreads."""
    groups = peers.groups
    middle = group_median(excess, groups)
    scatter = group_mad(excess, groups, middle)
    asked = peers.asked
    distance = np.where(groups.size[asked] >= MIN_PEERS, excess - middle[asked], np.nan)
    return distance, scatter[asked], group_median(spread, groups)[asked]
