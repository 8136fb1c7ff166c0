"""The slow fabric: all transfers of a communicator longer than normal, and no single rank apart."""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from sentinel.baseline.baseline import Baseline
from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.detect.fabric_history import FabricHistory, FabricReading
from sentinel.detect.regimes import JUDGED
from sentinel.detect.sequential import SECONDS_PER_MONTH, Cusum, cusum_threshold
from sentinel.detect.slow_fabric_evidence import SlowCommunicator, slow_fabric_finding
from sentinel.detect.stored_transfers import StoredTransfers
from sentinel.measure.index import Rows, SeriesIndex, grown
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.step_times import StepTimes
from sentinel.measure.transfers import Transfers, measure_transfers
from sentinel.measure.window import Window
from sentinel.model.incident import Culprit, CulpritKey, Finding
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["SlowFabric"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_REFERENCE_SIGMAS = 1.0  # k of the CUSUM
_HYSTERESIS = 0.5  # an alarm goes on while the cost is above this share of its floor


class SlowFabric:
    """A CUSUM for each communicator, one finding a job.

    A job's finding keeps the name of the communicator that it was first given, as long as one of the job's is slow.
    """

    def __init__(
        self,
        settings: SlowFabricSettings,
        history_ticks: int,
        false_alarms_per_month: float,
        baseline: Baseline | None = None,
    ) -> None:
        """`history_ticks` are those that a normal needs."""
        self._settings = settings
        self._false_alarms = false_alarms_per_month
        self._history = FabricHistory(settings, history_ticks, StoredTransfers(baseline, history_ticks))
        self._index = SeriesIndex()
        self._cusum = Cusum(_REFERENCE_SIGMAS)
        # By communicator: alarm and half of the way to it (0 or 1); start of the run, its cost and ticks.
        self._alarm, self._near, self._since, self._cost, self._ticks = (np.empty(0) for _ in range(5))
        self._named: dict[str, Culprit] = {}  # by job
        self._costs: tuple[Codes, Floats] = (np.empty(0, dtype=np.int32), np.empty(0))

    def step(
        self,
        window: Window,
        lateness: Lateness,
        times: StepTimes,
        membership: Membership,
        vocabulary: Vocabulary,
        states: Mapping[int, str],
        apart: Collection[int] = (),
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """What is found in one window, and the culprits about which nothing could be said this time.

        `states` by communicator: only those in `learning` or `watching` are judged, and of these none that is in
        `apart`: there a single rank is late or its link is slow, and explains what the others see.
        """
        fit = np.array(sorted({c for c, state in states.items() if state in JUDGED} - set(apart)), dtype=np.int32)
        transfers = measure_transfers(lateness)
        reading = self._history.read(transfers, times, membership, vocabulary)
        kept = np.isin(reading.comm, fit)
        known = np.isfinite(reading.cost_ratio)
        self._costs = (reading.comm[known].astype(np.int32), reading.cost_ratio[known])
        rows = self._index.rows(reading.comm)[kept]
        self._grow()
        slow = self._judge(rows, reading, kept, window, transfers) if len(rows) else []
        suspects = np.array(
            [key[0] for key in self._index.keys(np.flatnonzero(self._alarm + self._near > 0))], np.int32
        )
        self._history.learn(transfers, times, vocabulary, np.setdiff1d(fit, suspects))
        findings = self._name(slow, membership, vocabulary)
        return findings, self.keys - {finding.culprit.key for finding in findings}

    @property
    def keys(self) -> set[CulpritKey]:
        """Of all findings that stand."""
        return {culprit.key for culprit in self._named.values()}

    def costs(self) -> tuple[Codes, Floats]:
        """Of the last window: communicators, and seconds a second that transfers took beyond their normal."""
        return self._costs

    def slow_communicators(self) -> set[int]:
        """Communicators whose alarm stands."""
        return {key[0] for key in self._index.keys(np.flatnonzero(self._alarm > 0))}

    def forget(self, comm: int) -> None:
        """A communicator is over."""
        standing = np.flatnonzero(self._alarm + self._near > 0)
        over = standing[np.array([key[0] == comm for key in self._index.keys(standing)], dtype=bool)]
        self._alarm[over] = self._near[over] = 0.0

    def _judge(
        self, rows: Rows, reading: FabricReading, kept: Flags, window: Window, transfers: Transfers
    ) -> list[SlowCommunicator]:
        limits = self._settings
        run_length = len(rows) * SECONDS_PER_MONTH / window.length_seconds / self._false_alarms
        threshold = cusum_threshold(max(2.0, run_length), _REFERENCE_SIGMAS)
        clip = _REFERENCE_SIGMAS + threshold / limits.min_ticks * (1 + 1e-9)
        cusum = self._cusum.step(rows, reading.witness[kept], window.start, clip, threshold + _REFERENCE_SIGMAS)
        cost = reading.cost_ratio[kept]
        wire = np.nan_to_num(reading.wire_ratio[kept], nan=np.inf)
        speaks = (
            (cusum.sum >= threshold)
            & (cusum.ticks >= limits.min_ticks)
            & (cost >= limits.min_cost_ratio)
            & (reading.excess_seconds[kept] >= limits.min_excess.total_seconds())
            & (np.minimum(reading.ratio[kept], wire) >= limits.min_ratio)
            & (reading.cells_ratio[kept] >= limits.min_cells_ratio)
            & reading.explained[kept]
        )
        standing = self._alarm[rows] > 0
        first = ~standing & (cusum.ticks <= 1)
        self._since[rows] = np.where(first, cusum.started, self._since[rows])
        self._cost[rows] = np.where(first, 0.0, self._cost[rows]) + cost
        self._ticks[rows] = np.where(first, 0.0, self._ticks[rows]) + 1
        over = standing & (cost < _HYSTERESIS * limits.min_cost_ratio)
        self._alarm[rows] = np.where(over, 0.0, np.maximum(self._alarm[rows], speaks))
        self._near[rows] = (cusum.sum >= threshold / 2) & ~over
        self._cusum.reset(rows[over])
        return [
            SlowCommunicator(
                comm=int(reading.comm[place]),
                cost_ratio=min(1.0, float(self._cost[row] / self._ticks[row])),
                started_at=float(self._since[row]),
                reading=reading,
                place=place,
                transfers=transfers,
                cusum=float(cusum.sum[at]),
                cusum_threshold=threshold,
            )
            for at, (row, place) in enumerate(zip(rows.tolist(), np.flatnonzero(kept).tolist(), strict=True))
            if self._alarm[row] > 0
        ]

    def _name(self, slow: list[SlowCommunicator], membership: Membership, vocabulary: Vocabulary) -> list[Finding]:
        standing = {
            membership.communicators[comm].job if comm in membership.communicators else None
            for comm in self.slow_communicators()
        }
        # A communicator that is away may be of any job: nothing ends.
        if None not in standing:
            self._named = {job: culprit for job, culprit in self._named.items() if job in standing}
        jobs: dict[str, list[SlowCommunicator]] = {}
        for one in slow:
            if one.comm in membership.communicators:
                jobs.setdefault(membership.communicators[one.comm].job, []).append(one)
        findings = []
        for job, group in sorted(jobs.items()):
            finding = slow_fabric_finding(group, self._named.get(job), membership, vocabulary)
            self._named[job] = finding.culprit
            findings.append(finding)
        return findings

    def _grow(self) -> None:
        size = len(self._index)
        self._alarm, self._near = grown(self._alarm, size, 0.0), grown(self._near, size, 0.0)
        self._since, self._cost = grown(self._since, size, np.nan), grown(self._cost, size, 0.0)
        self._ticks = grown(self._ticks, size, 0.0)
