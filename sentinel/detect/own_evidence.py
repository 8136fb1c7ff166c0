"""What a rank's own history and its peers say against it over time: in each of its cells, and in all together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.detect.anchors import Anchors
from sentinel.detect.late_floors import LateFloors
from sentinel.detect.late_witness import late_witness, may_rise, witness_values
from sentinel.detect.pool import Excess, Mean, Pairs, Pool
from sentinel.detect.sequential import Cusum, CusumReading
from sentinel.measure.index import SeriesIndex
from sentinel.measure.lateness import Lateness
from sentinel.measure.row_space import Column, Rows

__all__ = ["HYSTERESIS", "REFERENCE_SIGMAS", "OwnEvidence", "OwnReading"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

REFERENCE_SIGMAS = 1.0  # k of the CUSUM: shifts of more than this many standard deviations add up
HYSTERESIS = 0.5  # an alarm goes on while the effect is above this share of its floor
# A pool averages over what a single cell shows in full, spikes as well: a cell has to persist for this much longer.
_CELL_PATIENCE_TICKS = 1
_POOLED = -1  # in the place of a cell's labels: all cells of a rank together
_NO_PAIR = -1


@dataclass(frozen=True)
class OwnReading:
    """One value a pair, shape (r,), of its leading series: the one with the largest sum, before others one that speaks.

    `effect_ratio` is what goes on in the pool, or in the cells that have spoken, whichever is more.
    """

    speaks: Flags
    effect_ratio: Floats
    sum: Floats
    ticks: Rows
    started: Floats  # Unix seconds
    wait_ratios: Floats  # summed up over these ticks
    sigmas: Floats
    stands_out: Floats
    leading: Rows  # which of the rows that were asked about


class OwnEvidence:
    """Two CUSUMs for each cell of a (communicator, rank), one of each mean, and one for its pool.

    A rank that starts its steps late is late in the first collective of the step alone: pooled with the others it would
    drown in their noise, the more of it the fewer operations are timed. A little in every cell shows in the pool only.
    """

    def __init__(self, min_ticks: int) -> None:
        self._min_ticks = min_ticks
        self._index = SeriesIndex()
        self._cusum = Cusum(REFERENCE_SIGMAS, self._index)
        self._anchors = Anchors(columns=3, space=self._index)
        # By series: whether it has spoken in the alarm that stands, waiting in the run of its sum, its pair's row.
        self._spoke, self._wait = Column(self._index, 0.0), Column(self._index, 0.0)
        self._pair = Column(self._index, _NO_PAIR, dtype=np.int64)

    def series(self, pairs: Pairs, lateness: Lateness, cells: Rows) -> Rows:
        """The numbers of the series of these rows of lateness, by each `Mean`, then of the pools of these pairs."""
        columns = [
            np.concatenate([*(labels[cells] for _ in Mean), pooled])
            for labels, pooled in (
                (lateness.comm, pairs.comm),
                (lateness.rank, pairs.rank),
                *((labels, np.full(len(pairs.comm), _POOLED, dtype=np.int32)) for labels in _labels(lateness)),
            )
        ]
        means = np.repeat(np.array([*Mean, _POOLED], dtype=np.int32), [*(len(cells) for _ in Mean), len(pairs.comm)])
        return self._index.rows(*columns, means)

    def step(
        self,
        rows: Rows,
        of_pair: Rows,
        pair_rows: Rows,
        evidence: Excess,
        pools: Sequence[Pool],
        floors: LateFloors,
        threshold: float,
        start: float,
    ) -> OwnReading:
        """One tick. `rows`: the numbers that `series` gave, `of_pair` the pair of each, `pair_rows` the pairs' numbers.

        `evidence` is about `rows`; `pools`, by `Mean`, and `floors` about the pairs. `start`: of the window, Unix
        seconds.
        """
        pool = pools[Mean.GEOMETRIC]
        pooled = np.array([each.excess_ratio + each.spread_ratio for each in pools])
        cells = (len(rows) - len(pair_rows)) // len(Mean)
        mean = np.concatenate([np.repeat([*Mean], cells), np.full(len(pair_rows), Mean.GEOMETRIC)])
        self._pair[rows] = pair_rows[of_pair]
        patience = np.full(len(rows), float(self._min_ticks))
        patience[: len(rows) - len(pair_rows)] += _CELL_PATIENCE_TICKS
        reading = self._step_cusum(rows, pair_rows, evidence, threshold, patience, start)
        self._wait[rows] = np.where(reading.ticks > 1, self._wait[rows], 0.0) + pool.wait_ratio[of_pair]
        min_cost = floors.cost_ratio[of_pair]
        # Not where its other cells speak against it as clearly: late here and early there is another order of work.
        speaks = (
            (reading.sum >= threshold)
            & (reading.ticks >= patience)
            & (evidence.excess_ratio >= min_cost)
            & (evidence.largest_seconds >= floors.lateness_seconds[of_pair])
            & (pooled[mean, of_pair] >= min_cost)
        )
        self._spoke[rows[speaks]] = 1.0
        effect = pool.excess_ratio.copy()
        goes_on = (self._spoke[rows] > 0) & (evidence.excess_ratio >= HYSTERESIS * min_cost)
        np.maximum.at(effect, of_pair[goes_on], evidence.excess_ratio[goes_on])
        leading = _leading(of_pair, len(pair_rows), reading.sum, speaks)
        shown = evidence.at(leading)
        return OwnReading(
            speaks=np.bincount(of_pair[speaks], minlength=len(pair_rows)) > 0,
            effect_ratio=effect,
            sum=reading.sum[leading],
            ticks=reading.ticks[leading],
            started=reading.started[leading],
            wait_ratios=self._wait[rows[leading]],
            sigmas=shown.sigmas,
            stands_out=shown.stands_out,
            leading=leading,
        )

    def end(self, rows: Rows) -> None:
        """Start these series anew: the alarm of their pair is over."""
        self._spoke[rows] = 0.0
        self._cusum.reset(rows)

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)

    def _step_cusum(
        self, rows: Rows, pair_rows: Rows, evidence: Excess, threshold: float, patience: Floats, start: float
    ) -> CusumReading:
        # A cell in which nothing was measured, of a rank that was seen: no news, so that what it knows fades.
        of_series = self._pair.values
        judged = np.zeros(int(of_series.max(initial=_NO_PAIR)) + 2, dtype=bool)  # the last: who has no pair
        judged[pair_rows] = True
        quiet = judged[of_series]
        quiet[rows] = False
        silent = np.flatnonzero(quiet)
        clip = REFERENCE_SIGMAS + threshold / patience * (1 + 1e-9)
        cap = threshold + REFERENCE_SIGMAS
        self._cusum.step(silent, np.zeros(len(silent)), start, 0.0, cap)
        compare = late_witness(evidence, REFERENCE_SIGMAS)
        rising = may_rise(evidence, REFERENCE_SIGMAS)
        sums = self._cusum.sums(rows)
        witness, anew = self._anchors.step(rows, witness_values(evidence), compare, sums, clip, rising)
        self._cusum.reset(rows[anew])
        return self._cusum.step(rows, witness, start, clip, cap)


def _labels(lateness: Lateness) -> tuple[npt.NDArray[np.int32], ...]:
    """What tells the cells of a communicator apart."""
    return lateness.op, lateness.size, lateness.algo, lateness.proto


def _leading(of_pair: Rows, pairs: int, total: Floats, speaks: Flags) -> Rows:
    """For each pair the place of its leading series: where none has a sum its pool, which comes last."""
    leading = np.arange(len(of_pair) - pairs, len(of_pair))
    summed = np.flatnonzero(total > 0)
    order = summed[np.lexsort((total[summed], speaks[summed], of_pair[summed]))]
    leading[of_pair[order]] = order  # the last of each pair stays
    return leading
