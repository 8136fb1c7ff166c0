"""The slow link: network steps of one rank apart from its peers' and from its own history, at a real cost."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.config.detection_slow_link import SlowLinkSettings
from sentinel.detect.link_history import LinkHistory, LinkReading
from sentinel.detect.sequential import SECONDS_PER_MONTH, Cusum, cusum_threshold
from sentinel.measure.index import SeriesIndex
from sentinel.measure.lateness import Lateness
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.step_times import StepTimes

__all__ = ["SlowLinkTest", "SlowSeries"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_REFERENCE_SIGMAS = 1.0  # k of the CUSUM
# How links differ from one another does not average out over time as noise does: only what exceeds this many robust
# standard deviations of their differences counts.
_PEERS_SIGMAS = 4.0
# Of what a link costs, which counts waiting with it and so is too much: transfers that have become longer by as much
# are so because of it.
_RISEN_SHARE = 0.25
_HYSTERESIS = 0.5  # an alarm goes on while the cost is above this share of its floor


@dataclass(frozen=True)
class SlowSeries:
    """A link whose alarm stands. `place` is its row among the step times of the tick."""

    place: int
    cost_ratio: float  # mean over the run
    started_at: float
    ratio: float
    known: bool  # whether it was compared with a history
    sigmas: float
    stands_out: float
    cusum: float
    cusum_threshold: float


class SlowLinkTest:
    """A CUSUM for each link over what its history and its peers say; far outside its peers it needs neither.

    A link is a (communicator, rank, peer, direction).
    """

    def __init__(self, settings: SlowLinkSettings, min_ticks: int, false_alarms_per_month: float) -> None:
        """`min_ticks` are those that a history needs."""
        self._settings = settings
        self._false_alarms = false_alarms_per_month
        self._index = SeriesIndex()
        self._history = LinkHistory(
            min_ticks, settings.noise_floor_ratio, settings.min_excess.total_seconds(), self._index
        )
        self._cusum = Cusum(_REFERENCE_SIGMAS, self._index)
        # By link: alarm (0 or 1), ticks in a row of standing far out, half of the way to an alarm (0 or 1); start of
        # the run, its cost and ticks.
        self._alarm, self._streak, self._near = (Column(self._index, 0.0) for _ in range(3))
        self._cost, self._ticks = Column(self._index, 0.0), Column(self._index, 0.0)
        self._since = Column(self._index, np.nan)

    def step(
        self,
        times: StepTimes,
        operation_ratio: Floats,
        lateness: Lateness,
        fit: Collection[int],
        risen: Mapping[int, float],
        start: float,
        length_seconds: float,
    ) -> list[SlowSeries]:
        """Which links are slow in one window, of `length_seconds` from `start` on (Unix seconds).

        `operation_ratio`, shape (n,), is the share of its time that the communicator of each link spends inside
        operations. `fit` are the communicators that may be learnt from, `risen` those whose transfers have become
        longer, with what that costs.
        """
        rows = self._index.rows(times.comm, times.rank, times.peer, times.direction)
        if not len(rows):
            return []
        reading = self._history.read(rows, times)
        cost, excess = _cost(times, reading.ratio, operation_ratio)
        limits = self._settings
        effect = (cost >= limits.min_cost_ratio) & (excess >= limits.min_excess.total_seconds())
        effect &= ~self._is_explained(effect, times, reading, cost, lateness, risen)
        threshold = self._threshold(len(rows), length_seconds)
        patience = limits.min_ticks
        apart = np.minimum(reading.sigmas, reading.stands_out - _PEERS_SIGMAS + _REFERENCE_SIGMAS)
        witness = np.where(np.isnan(reading.stands_out), reading.sigmas, apart)
        known = np.flatnonzero(reading.known)
        clip = _REFERENCE_SIGMAS + threshold / patience * (1 + 1e-9)
        cusum = self._cusum.step(rows[known], witness[known], start, clip, threshold + _REFERENCE_SIGMAS)
        total, ticks, begun = np.zeros(len(rows)), np.zeros(len(rows)), np.full(len(rows), start)
        total[known], ticks[known], begun[known] = cusum.sum, cusum.ticks, cusum.started
        speaks = effect & (total >= threshold) & (ticks >= patience) & (reading.ratio >= limits.min_ratio)
        out = effect & (reading.ratio >= limits.far_ratio)
        out &= np.nan_to_num(reading.stands_out) >= limits.far_sigmas
        streak = np.where(out, self._streak[rows] + 1, 0.0)
        self._streak[rows] = streak
        opens = speaks | (streak >= patience + 1)
        self._near[rows] = (total >= threshold / 2) | (streak > 0)
        self._step_alarms(rows, opens, (total > 0) | (streak > 0), cost, begun)
        self._learn(rows, times, fit)
        return [
            SlowSeries(
                place=place,
                cost_ratio=float(self._cost[row] / self._ticks[row]),
                started_at=float(self._since[row]),
                ratio=float(reading.ratio[place]),
                known=bool(reading.known[place]),
                sigmas=float(reading.sigmas[place]),
                stands_out=float(reading.stands_out[place]),
                cusum=float(total[place]),
                cusum_threshold=threshold,
            )
            for place, row in zip(*(each.tolist() for each in _standing(self._alarm.values, rows)), strict=True)
        ]

    def alarms(self) -> set[tuple[int, int]]:
        """The (comm, rank) pairs with an alarm that stands, seen this time or not."""
        return {(key[0], key[1]) for key in self._index.keys(np.flatnonzero(self._alarm.values > 0))}

    def suspects(self) -> set[int]:
        """Communicators in which a link is alarmed or on its way to it: nothing there is fit to learn from."""
        rows = np.flatnonzero((self._alarm.values > 0) | (self._near.values > 0))
        return {key[0] for key in self._index.keys(rows)}

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)

    def _is_explained(
        self,
        effect: Flags,
        times: StepTimes,
        reading: LinkReading,
        cost: Floats,
        lateness: Lateness,
        risen: Mapping[int, float],
    ) -> Flags:
        """Whether a rank's own lateness explains its slow steps, of the links that `effect` selects.

        Who comes last finds everybody waiting for its data, all at once: its steps take longer, moderately, and cost
        less than its lateness does. (In recorded jobs 1.2 to 1.7 times as long, at a rank that comes 1 or 2 ms late.)
        But that makes no transfer longer: a link that is slow does, and its rank may be late as well, since the same
        card serves another communicator.
        """
        moderate = (reading.ratio >= self._settings.min_ratio) & (reading.ratio < self._settings.far_ratio)
        explained = np.zeros(len(times.comm), dtype=bool)
        for at in np.flatnonzero(effect & moderate).tolist():
            if risen.get(int(times.comm[at]), 0.0) >= _RISEN_SHARE * cost[at]:
                continue
            cells = (lateness.comm == times.comm[at]) & (lateness.rank == times.rank[at])
            late_ratio = np.sum(lateness.lateness_seconds[cells] * lateness.rate[cells])
            explained[at] = late_ratio > cost[at]
        return explained

    def _threshold(self, series: int, tick_seconds: float) -> float:
        """The decision interval that keeps the whole fleet within its budget of false alarms."""
        run_length = max(2.0, series * SECONDS_PER_MONTH / tick_seconds / self._false_alarms)
        return cusum_threshold(run_length, _REFERENCE_SIGMAS)

    def _step_alarms(self, rows: Rows, opens: Flags, runs: Flags, cost: Floats, begun: Floats) -> None:
        """Open, keep up and end alarms, and sum up what their runs cost."""
        standing = self._alarm[rows] > 0
        first = ~standing & ((self._ticks[rows] == 0) | ~runs)
        self._since[rows] = np.where(first, begun, self._since[rows])
        self._cost[rows] = np.where(first, 0.0, self._cost[rows]) + cost
        self._ticks[rows] = np.where(first, 0.0, self._ticks[rows]) + 1
        over = standing & (cost < _HYSTERESIS * self._settings.min_cost_ratio)
        self._alarm[rows] = np.where(over, 0.0, np.maximum(self._alarm[rows], opens))
        idle = over | ~(runs | (self._alarm[rows] > 0))
        self._ticks[rows[idle]] = 0.0
        self._near[rows[over]] = self._streak[rows[over]] = 0.0
        self._cusum.reset(rows[over])

    def _learn(self, rows: Rows, times: StepTimes, fit: Collection[int]) -> None:
        allowed = np.fromiter(set(fit) - self.suspects(), dtype=np.int64)
        self._history.learn(rows, times, np.isin(times.comm, allowed))


def _standing(alarm: Floats, rows: Rows) -> tuple[Rows, Rows]:
    """Places and numbers of the links whose alarm stands."""
    places = np.flatnonzero(alarm[rows] > 0)
    return places, rows[places]


def _cost(times: StepTimes, ratio: Floats, operation_ratio: Floats) -> tuple[Floats, Floats]:
    """Share of the job's time that each link's steps last too long, and by how many seconds each of them does.

    Several steps are on their way at once, so their seconds do not add up to time. But of all seconds of a rank's steps
    the excess is a share, and so it is, about, of the time that the operations take whose steps they are: one that
    needs no knowledge of how many were left out by sampling.
    """
    excess = times.step_seconds * np.maximum(0.0, 1.0 - 1.0 / ratio)
    share = excess * times.steps / np.maximum(times.direction_seconds, np.finfo(float).tiny)
    return np.minimum(1.0, share) * operation_ratio, excess
