"""The late rank: outside its peers and its own history, at a real cost."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sentinel.config.detection import DetectionSettings
from sentinel.detect.late_floors import LateFloors
from sentinel.detect.own_evidence import HYSTERESIS, REFERENCE_SIGMAS, OwnEvidence, OwnReading
from sentinel.detect.own_history import Reference
from sentinel.detect.pool import Cells, Excess, Mean, Pairs, Peers, Pool, cell_excess, pool_cells
from sentinel.detect.sequential import SECONDS_PER_MONTH, cusum_threshold
from sentinel.measure.index import SeriesIndex
from sentinel.measure.labels import CELL, Labels
from sentinel.measure.lateness import Lateness
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.window import Window

__all__ = ["LateRankTest", "LateSeries"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_PEERS_ONLY_PATIENCE = 3  # without a history of its own a rank has to stand out for this many times as many ticks


@dataclass(frozen=True)
class LateSeries:
    """One rank that is late in one communicator. `pair` is its place among the pairs of the tick.

    `cell` is the row of lateness that shows it best, None where that is all of its cells together. `speaks`: whether
    the evidence is enough at this tick; else its alarm only goes on.
    """

    comm: int
    rank: int
    pair: int
    cell: int | None
    speaks: bool
    cost_ratio: float  # mean over the run
    started_at: float
    statistics: Mapping[str, Any]


class LateRankTest:
    """Lateness against own history, with the peers as second witness, over time: see `OwnEvidence`.

    Where a rank's history is not known yet its peers alone decide, at a much higher threshold and after more ticks.
    """

    def __init__(self, settings: DetectionSettings) -> None:
        self._settings = settings
        self._index = SeriesIndex()
        self._own = OwnEvidence(settings.late_rank.min_ticks)
        self._others: tuple[Labels, Rows, Peers] | None = None  # of the tick before
        # By pair: alarm (0 or 1), ticks in a row of standing out from peers, start of the run, cost and ticks of the
        # run.
        self._alarm, self._streak, self._cost, self._ticks = (Column(self._index, 0.0) for _ in range(4))
        self._since = Column(self._index, np.nan)

    def step(
        self, window: Window, lateness: Lateness, reference: Reference, pairs: Pairs, floors: LateFloors
    ) -> list[LateSeries]:
        """Who is late in this window, among `pairs`; `floors` are theirs."""
        rows = self._index.rows(pairs.comm, pairs.rank)
        if not len(rows):
            return []
        floor = self._settings.late_rank.noise_floor_ratio
        nothing = Reference(*(np.zeros_like(lateness.rate) for _ in fields(Reference)))
        peers = _clearer(*pool_cells(Cells.of(lateness, nothing, pairs, ~reference.known, floor), pairs))
        cells = Cells.of(lateness, reference, pairs, reference.known, floor)
        pools = pool_cells(cells, pairs)
        own = pools[Mean.GEOMETRIC]
        series = self._own.series(pairs, lateness, cells.place)
        of_pair = np.concatenate([*(cells.pair for _ in Mean), np.arange(len(rows))])
        threshold = self._threshold(len(series), window.length_seconds)
        others = self._others_of(lateness, cells.place, pairs.side[cells.pair])
        evidence = _joined(*(cell_excess(cells, mean, others) for mean in Mean), own)
        reading = self._own.step(series, of_pair, rows, evidence, pools, floors, threshold, window.start)
        over, speaks = self._step_alarms(rows, own, peers, reading, floors, window.start)
        self._own.end(series[over[of_pair]])
        return [
            LateSeries(
                comm=int(pairs.comm[i]),
                rank=int(pairs.rank[i]),
                pair=i,
                cell=_cell(cells.place, int(reading.leading[i])),
                speaks=bool(speaks[i]),
                cost_ratio=float(np.clip(self._cost[rows[i]] / self._ticks[rows[i]], 0.0, 1.0)),
                started_at=float(self._since[rows[i]]),
                statistics=_statistics(own, peers, reading, threshold, i),
            )
            for i in np.flatnonzero(self._alarm[rows] > 0).tolist()
        ]

    def alarms(self) -> set[tuple[int, int]]:
        """The (comm, rank) pairs whose alarm stands, seen this time or not."""
        return {(key[0], key[1]) for key in self._index.keys(np.flatnonzero(self._alarm.values > 0))}

    def suspects(self) -> set[int]:
        """Communicators in which a rank is alarmed or stands out from its peers: nothing there is fit to learn from."""
        rows = np.flatnonzero((self._alarm.values > 0) | (self._streak.values > 0))
        return {key[0] for key in self._index.keys(rows)}

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)
        self._own.forget(comms)

    def _others_of(self, lateness: Lateness, cells: Rows, side: Rows) -> Peers:
        """With whom each of these rows is compared: as before, where rows and sides are."""
        mine = np.zeros(len(lateness.labels), dtype=bool)
        mine[cells] = True
        labels = lateness.labels.where(mine)
        if self._others is None or self._others[0] is not labels or not np.array_equal(self._others[1], side):
            self._others = labels, side, Peers.of(labels.groups(*CELL).of, side)
        return self._others[2]

    def _threshold(self, series: int, tick_seconds: float) -> float:
        """The decision interval that keeps the whole fleet within its budget of false alarms."""
        ticks_per_month = SECONDS_PER_MONTH / tick_seconds
        run_length = max(2.0, series * ticks_per_month / self._settings.false_alarms_per_month)
        return cusum_threshold(run_length, REFERENCE_SIGMAS)

    def _step_alarms(
        self, rows: Rows, own: Pool, peers: Pool, reading: OwnReading, floors: LateFloors, start: float
    ) -> tuple[Flags, Flags]:
        """Open, keep up and end the alarms of these pairs; which of them are over, and about which enough is said."""
        limits = self._settings.late_rank
        standing = self._alarm[rows] > 0
        streak = np.where(self._stands_out(peers, floors), self._streak[rows] + 1, 0)
        self._streak[rows] = streak
        by_peers = streak >= _PEERS_ONLY_PATIENCE * limits.min_ticks
        wait = own.wait_ratio + np.where(streak > 0, peers.wait_ratio, 0.0)
        first = ~standing & (streak <= 1)
        opens = ~standing & reading.speaks
        self._since[rows] = np.where(opens, reading.started, np.where(first, start, self._since[rows]))
        self._cost[rows] = np.where(opens, reading.wait_ratios, np.where(first, 0.0, self._cost[rows]) + wait)
        self._ticks[rows] = np.where(opens, reading.ticks, np.where(first, 0.0, self._ticks[rows]) + 1)
        effect = reading.effect_ratio + np.where(streak > 0, peers.excess_ratio, 0.0)
        over = standing & (effect < HYSTERESIS * floors.cost_ratio)
        speaks = reading.speaks | by_peers
        self._alarm[rows] = np.where(over, 0.0, np.where(speaks, 1.0, self._alarm[rows]))
        return over, speaks

    def _stands_out(self, peers: Pool, floors: LateFloors) -> Flags:
        return (
            (np.nan_to_num(peers.stands_out) >= self._settings.late_rank.peers_only_sigmas)
            & (peers.excess_ratio >= floors.cost_ratio)
            & (peers.largest_seconds >= floors.lateness_seconds)
        )


def _joined(*parts: Excess) -> Excess:
    """One after the other."""
    return Excess(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Excess)))


def _clearer(first: Pool, second: Pool) -> Pool:
    """For each pair the one in which it stands out further."""
    chosen = np.nan_to_num(second.stands_out) > np.nan_to_num(first.stands_out)
    return Pool(*(np.where(chosen, getattr(second, each.name), getattr(first, each.name)) for each in fields(Pool)))


def _cell(cells: Rows, leading: int) -> int | None:
    """The row of lateness that a series is of; None for a pool."""
    return int(cells[leading % len(cells)]) if leading < len(Mean) * len(cells) else None


def _statistics(own: Pool, peers: Pool, reading: OwnReading, threshold: float, pair: int) -> dict[str, Any]:
    """Which test spoke, in numbers."""
    if own.spread_ratio[pair] > 0:
        stands_out = reading.stands_out[pair]
        return {
            "test": "own history and peers, CUSUM",
            "cusum": round(float(reading.sum[pair]), 2),
            "cusum_threshold": round(threshold, 2),
            "sigmas_from_own_history": round(float(reading.sigmas[pair]), 2),
            "sigmas_from_peers": None if np.isnan(stands_out) else round(float(stands_out), 2),
        }
    return {
        "test": "peers only, own history not known yet",
        "sigmas_from_peers": round(float(peers.stands_out[pair]), 2),
    }
