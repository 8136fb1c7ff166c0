"""Lateness, or a communicator's transfer, that grows by little and little."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.config.detection_drift import DriftSettings
from sentinel.detect.block_history import BLOCKS, BlockHistory
from sentinel.detect.culprit import culprit_of
from sentinel.detect.pool import MIN_PEERS
from sentinel.detect.sequential import SECONDS_PER_MONTH
from sentinel.detect.trend import (
    autocorrelation,
    benjamini_hochberg,
    fit_lines,
    fit_ramps,
    mann_kendall,
    step_misfit,
)
from sentinel.measure.index import SeriesIndex
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Communicator, Membership
from sentinel.measure.row_space import Column, Rows
from sentinel.model.incident import Culprit, CulpritKey, Finding, Verdict
from sentinel.model.vocabulary import Codes

__all__ = ["TRANSFER", "DriftReading", "DriftTest", "Series", "lateness_series"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

TRANSFER = -1
"""In place of a rank: the series is the communicator's transfer."""

_LEAST_BLOCKS = 16
_ALIKE_BLOCKS = 8  # looks at windows that share seven eighths decide alike, and count as one against the budget
_LAST_BLOCKS = 4  # whose mean is where a series stands now
_CANDIDATE_SIGMAS = 3.0  # of a straight line's slope, as if its residuals were independent; the tests ask for more
_MOST_AUTOCORRELATION = 0.95
_SAMPLE = 64
_STEP_MARGIN = 0.7  # a bent line has to leave less than this of the misfit that a step leaves
_HYSTERESIS = 0.5  # of the effect floor: below it a drift is over


@dataclass(frozen=True)
class Series:
    """Share of the job's time by (comm, rank), in one window; `rank` is `TRANSFER` for what is nobody's. Shape (n,)."""

    comm: Codes
    rank: Codes
    ratio: Floats


@dataclass(frozen=True)
class DriftReading:
    """One tick. `held` are the culprits about which nothing was measured now."""

    findings: tuple[Finding, ...]
    held: frozenset[CulpritKey]


def lateness_series(lateness: Lateness, fit: AbstractSet[int]) -> Series:
    """Each rank's lateness, its cells together, as seconds of waiting a second; of the communicators `fit` to judge."""
    kept = lateness.labels.among("comm", fit)
    labels = lateness.labels.where(kept)
    pairs = labels.groups("comm", "rank")
    ratios = (lateness.lateness_seconds * lateness.rate)[kept]
    ratio = np.bincount(pairs.of, weights=ratios, minlength=len(pairs)).astype(np.float64)
    return Series(labels["comm"][pairs.first], labels["rank"][pairs.first], ratio)


class DriftTest:
    """A trend in the blocks of the last `horizon`, looked for whenever a block is closed.

    It opens where all of these hold: Mann and Kendall's test, corrected for autocorrelation, at the fleet's budget of
    false alarms by Benjamini and Hochberg; a bent line fits better than a step, which is a late rank's; and both effect
    floors, by the slope of Theil and Sen. What it was before the bend is kept, so that a drift that has lasted
    longer than the horizon is not taken for normal; it is over when half of the effect floor is undercut.
    """

    def __init__(
        self,
        settings: DriftSettings,
        false_alarms_per_month: float,
        of_job: Callable[[str], DriftSettings] | None = None,
    ) -> None:
        """`of_job` gives the settings of a job by its id, where jobs have their own; the horizon is everybody's."""
        self._settings = settings
        self._of_job = of_job or (lambda _: settings)
        self._index = SeriesIndex()
        self._history = BlockHistory(settings.horizon.total_seconds(), self._index)
        looks_per_month = SECONDS_PER_MONTH / (_ALIKE_BLOCKS * self._history.block_seconds)
        self._level = false_alarms_per_month / looks_per_month
        self._comm = Column(self._index, np.nan)
        # Of the alarms: where it stood before, when it began, how far it has risen, its slope per block, its p-value.
        self._alarm, self._before, self._rise, self._slope = (Column(self._index, 0.0) for _ in range(4))
        self._since, self._p = Column(self._index, np.nan), Column(self._index, 1.0)

    def step(
        self, series: Sequence[Series], membership: Membership, late: AbstractSet[CulpritKey], time: float
    ) -> DriftReading:
        """Take what was measured in the window that ends at `time`.

        `late` are the keys of the late ranks of this tick, found or held: who is late is not drifting as well.
        """
        comm = np.concatenate([np.empty(0, dtype=np.int32), *(each.comm for each in series)])
        rank = np.concatenate([np.empty(0, dtype=np.int32), *(each.rank for each in series)])
        rows = self._index.rows(comm, rank)
        self._comm[rows] = comm
        if self._history.add(rows, np.concatenate([np.empty(0), *(each.ratio for each in series)]), time):
            self._judge(membership)
        return self._reading(rows, membership, {key[1:] for key in late})

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)

    def _judge(self, membership: Membership) -> None:
        values = self._history.closed()
        known = np.isfinite(values)
        tested = np.flatnonzero((known.sum(axis=1) >= _LEAST_BLOCKS) & known[:, -1])
        if not len(tested):
            return
        now = _last(values[tested])
        standing = self._alarm[tested] > 0
        self._rise[tested] = np.where(standing, now - self._before[tested], 0.0)
        rows = tested[standing]
        floors = self._floors(rows, membership)[0]
        self._alarm[rows] = np.where(self._rise[rows] < _HYSTERESIS * floors, 0.0, 1.0)
        self._open(tested, values[tested], standing, membership)

    def _open(self, tested: Rows, values: Floats, standing: Flags, membership: Membership) -> None:
        slope, sigmas = _straight_lines(values)
        least = _HYSTERESIS * self._settings.min_rise_ratio / BLOCKS
        chosen = np.flatnonzero(~standing & (sigmas >= _CANDIDATE_SIGMAS) & (slope >= least))
        usual = _usual_autocorrelation(values, self._comm[tested], chosen)
        # Nothing beyond the level can be rejected, and its own autocorrelation only adds to what is usual.
        likely = mann_kendall(values[chosen], usual) <= self._level
        chosen, usual = chosen[likely], usual[likely]
        if not len(chosen):
            return
        rows, candidates = tested[chosen], values[chosen]
        ramps = fit_ramps(candidates)
        assumed = np.clip(autocorrelation(ramps.residuals), usual, _MOST_AUTOCORRELATION)
        p = mann_kendall(candidates, assumed)
        min_rise, min_projected = self._floors(rows, membership)
        opens = benjamini_hochberg(p, len(tested), self._level) & (
            ramps.misfit < _STEP_MARGIN * step_misfit(candidates)
        )
        for i in np.flatnonzero(opens).tolist():
            begins, level = int(ramps.begins[i]), float(ramps.level[i])
            whole = values[self._comm[tested] == self._comm[rows[i]]]
            rise = float(_last(candidates[i : i + 1])[0]) - level - max(0.0, level * _growth(whole, begins))
            per_block = _theil_sen(candidates[i, begins:])
            if rise < min_rise[i] or per_block * BLOCKS < min_projected[i]:
                continue
            row = rows[i]
            self._alarm[row], self._before[row], self._rise[row], self._p[row] = 1.0, level, rise, p[i]
            self._slope[row] = per_block
            self._since[row] = self._history.end() - (BLOCKS - begins) * self._history.block_seconds

    def _floors(self, rows: Rows, membership: Membership) -> tuple[Floats, Floats]:
        """Least rise and least projected rise for each row, of its job."""
        floors = np.empty((len(rows), 2))
        for i, code in enumerate(self._comm[rows].tolist()):
            communicator = membership.communicators.get(int(code))
            limits = self._settings if communicator is None else self._of_job(communicator.role.job_id)
            floors[i] = limits.min_rise_ratio, limits.min_projected_ratio
        return floors[:, 0], floors[:, 1]

    def _reading(
        self, rows: Rows, membership: Membership, late: AbstractSet[tuple[str, tuple[int, ...], str]]
    ) -> DriftReading:
        measured = np.zeros(len(self._index), dtype=bool)
        measured[rows] = True
        culprits: dict[CulpritKey, list[tuple[int, Culprit]]] = defaultdict(list)
        standing = np.flatnonzero(self._alarm.values > 0)
        for row, (comm, rank) in zip(standing.tolist(), self._index.keys(standing), strict=True):
            culprit = _culprit(membership.communicators.get(comm), rank)
            if culprit is not None and culprit.key[1:] not in late:
                culprits[culprit.key].append((row, culprit))
        findings, held = [], set()
        for key, series in culprits.items():
            seen = [each for each in series if measured[each[0]]]
            if seen:
                findings.append(self._finding(seen, membership))
            else:
                held.add(key)
        findings.sort(key=lambda each: (each.culprit.job, each.culprit.ranks, each.culprit.comm))
        return DriftReading(tuple(findings), frozenset(held))

    def _finding(self, series: Sequence[tuple[int, Culprit]], membership: Membership) -> Finding:
        row, culprit = max(series, key=lambda each: self._rise[each[0]])
        ((comm, rank),) = self._index.keys(np.array([row]))
        communicator = membership.communicators[comm]
        hours = self._settings.horizon.total_seconds() / 3600
        evidence = {
            "test": "Theil-Sen and Mann-Kendall on blocks of the last " + f"{hours:g} h",
            "of": "transfer" if rank == TRANSFER else "lateness",
            "rise_ratio": round(float(self._rise[row]), 5),
            "before_ratio": round(float(self._before[row]), 5),
            "slope_ratio_per_hour": round(float(self._slope[row]) * 3600 / self._history.block_seconds, 5),
            "projected_rise_ratio": round(float(self._slope[row]) * BLOCKS, 5),
            "p_value": float(f"{self._p[row]:.2g}"),
            "p_threshold": float(f"{self._level:.2g}"),
            "also_drifting_in": sorted(each.comm for place, each in series if place != row),
        }
        if rank != TRANSFER:
            evidence |= {"rank_in_communicator": rank, "gpu_uuid": communicator.members[rank].gpu_uuid}
        return Finding(
            culprit=culprit,
            cost_ratio=float(np.clip(self._rise[row], 0.0, 1.0)),
            started_at=min(float(self._since[place]) for place, _ in series),
            victims=len(communicator.members) - (rank != TRANSFER),
            evidence=evidence,
        )


def _culprit(communicator: Communicator | None, rank: int) -> Culprit | None:
    """None where the communicator or the rank is not there now."""
    if communicator is None or (rank != TRANSFER and rank not in communicator.members):
        return None
    member = None if rank == TRANSFER else communicator.members[rank]
    return culprit_of(Verdict.DRIFT, communicator, [] if member is None else [member])


def _last(values: Floats) -> Floats:
    """Where each series stands: the mean of its last blocks, of which the newest is known. Shape (n,)."""
    mean: Floats = np.nanmean(values[:, -_LAST_BLOCKS:], axis=1)
    return mean


def _usual_autocorrelation(values: Floats, comm: Floats, chosen: Rows) -> Floats:
    """The median autocorrelation in the communicator of each chosen series, of up to `_SAMPLE` ranks.

    That of one series is uncertain. Most of a communicator's ranks do not drift.
    """
    medians = {}
    for code in np.unique(comm[chosen]).tolist():
        mine = np.flatnonzero(comm == code)
        medians[code] = float(np.median(autocorrelation(fit_lines(values[mine[:: max(1, len(mine) // _SAMPLE)]]))))
    return np.clip([medians[code] for code in comm[chosen].tolist()], 0.0, _MOST_AUTOCORRELATION)


def _growth(values: Floats, begins: int) -> float:
    """By how much the lateness of most of a communicator's ranks has grown since a ramp began, as a ratio.

    When the whole job gets slower, as by day, who is late by habit gets later with it. 0 where too few ranks are there.
    """
    if len(values) < MIN_PEERS:
        return 0.0
    known = np.flatnonzero(np.isfinite(values).any(axis=0))
    usual = np.nanmedian(np.abs(values[:, known]), axis=0)
    before = usual[: max(int(np.searchsorted(known, begins)), _LAST_BLOCKS)].mean()
    return float(usual[-_LAST_BLOCKS:].mean() / before - 1) if before > 0 else 0.0


def _theil_sen(values: Floats) -> float:
    from scipy import stats  # takes half a second: not for every command

    known = np.flatnonzero(np.isfinite(values))
    return float(stats.theilslopes(values[known], known).slope)


def _straight_lines(values: Floats) -> tuple[Floats, Floats]:
    """Slopes of least squares lines per block, and those in standard errors of independent residuals. Shape (n,)."""
    known = np.isfinite(values)
    n, place = known.sum(axis=1), np.arange(values.shape[1], dtype=np.float64)
    y = np.where(known, values, 0.0)
    sum_x, sum_y = known @ place, y.sum(axis=1)
    spread = known @ place**2 - sum_x**2 / n
    total = np.einsum("ij,ij->i", y, y) - sum_y**2 / n
    slope = (y @ place - sum_x * sum_y / n) / spread
    error = np.sqrt(np.maximum(total - slope**2 * spread, 0.0) / (n - 2) / spread)
    return slope, slope / np.maximum(error, np.finfo(float).tiny)
