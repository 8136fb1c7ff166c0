"""The slow fabric: all transfers of a communicator longer than normal, and no single rank apart."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.baseline.baseline import Baseline
from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.detect.anchors import Anchors
from sentinel.detect.fabric_history import FabricHistory, FabricReading
from sentinel.detect.fabric_names import FabricNames, JobFabric
from sentinel.detect.fabric_witness import fabric_witness, witness_values
from sentinel.detect.regimes import JUDGED
from sentinel.detect.sequential import SECONDS_PER_MONTH, Cusum, cusum_threshold
from sentinel.detect.slow_fabric_evidence import SlowCommunicator
from sentinel.detect.stored_transfers import StoredTransfers
from sentinel.measure.index import SeriesIndex
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Communicator, Membership
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.step_times import StepTimes
from sentinel.measure.transfers import Transfers, measure_transfers
from sentinel.measure.window import Window
from sentinel.model.incident import CulpritKey, Finding
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["FabricLook", "SlowFabric"]

Floats = npt.NDArray[np.float64]

_REFERENCE_SIGMAS = 1.0  # k of the CUSUM
_RISE_SHARE = 0.5  # of the least slow one's rise, as logarithms: whose transfers have risen by that is not healthy
_HYSTERESIS = 0.5  # an alarm goes on while the cost is above this share of its floor


@dataclass(frozen=True)
class FabricLook:
    """What one window shows of all communicators, judged or not."""

    transfers: Transfers
    times: StepTimes
    reading: FabricReading


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
        names_places: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """`history_ticks` are those that a normal needs; `names_places` is as in `FabricNames`."""
        self._settings = settings
        self._false_alarms = false_alarms_per_month
        self._history = FabricHistory(settings, history_ticks, StoredTransfers(baseline, history_ticks))
        self._index = SeriesIndex()
        self._cusum = Cusum(_REFERENCE_SIGMAS, self._index)
        self._anchors = Anchors(columns=2, space=self._index)
        # By communicator: alarm and half of the way to it (0 or 1); start of the run, its cost and ticks.
        self._alarm, self._near, self._cost, self._ticks = (Column(self._index, 0.0) for _ in range(4))
        self._since = Column(self._index, np.nan)
        self._names = FabricNames(names_places)
        self._costs: tuple[Codes, Floats] = (np.empty(0, dtype=np.int32), np.empty(0))

    def look(self, lateness: Lateness, times: StepTimes, membership: Membership, vocabulary: Vocabulary) -> FabricLook:
        """Compare one window with what is normal. `step` takes it further."""
        transfers = measure_transfers(lateness)
        return FabricLook(transfers, times, self._history.read(transfers, times, membership, vocabulary))

    def step(
        self,
        window: Window,
        look: FabricLook,
        membership: Membership,
        vocabulary: Vocabulary,
        states: Mapping[int, str],
        apart: Collection[int] = (),
        frozen: Collection[int] = (),
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """What is found in one window, and the culprits about which nothing could be said this time.

        `states` by communicator: only those in `learning` or `watching` are judged, and of these none that is in
        `apart`: there a single link is slow, and explains what the others see. Nothing is learnt from those that are
        `frozen`.
        """
        fit = np.array(sorted({c for c, state in states.items() if state in JUDGED} - set(apart)), dtype=np.int32)
        transfers, reading = look.transfers, look.reading
        kept = np.flatnonzero(np.isin(reading.comm, fit))
        known = np.isfinite(reading.cost_ratio)
        self._costs = (reading.comm[known].astype(np.int32), reading.cost_ratio[known])
        rows = self._index.rows(reading.comm)[kept]
        slow = self._judge(rows, reading, kept, window, transfers, membership) if len(rows) else []
        rising = np.flatnonzero(self._alarm.values + self._near.values > 0)
        suspects = np.array([*frozen, *(key[0] for key in self._index.keys(rising))], np.int32)
        self._history.learn(transfers, look.times, vocabulary, np.setdiff1d(fit, suspects))
        jobs = self._jobs(rows, reading, kept, slow, membership)
        findings = self._names.step(jobs, self.slow_communicators(), membership, vocabulary)
        return findings, self.keys - {finding.culprit.key for finding in findings}

    @property
    def keys(self) -> set[CulpritKey]:
        """Of all findings that stand."""
        return self._names.keys

    def costs(self) -> tuple[Codes, Floats]:
        """Of the last window: communicators, and seconds a second that transfers took beyond their normal."""
        return self._costs

    def slow_communicators(self) -> set[int]:
        """Communicators whose alarm stands."""
        return {key[0] for key in self._index.keys(np.flatnonzero(self._alarm.values > 0))}

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._index.forget(comms)
        self._history.forget(comms)

    def _judge(
        self,
        rows: Rows,
        reading: FabricReading,
        kept: Rows,
        window: Window,
        transfers: Transfers,
        membership: Membership,
    ) -> list[SlowCommunicator]:
        limits = self._settings
        run_length = len(rows) * SECONDS_PER_MONTH / window.length_seconds / self._false_alarms
        threshold = cusum_threshold(max(2.0, run_length), _REFERENCE_SIGMAS)
        clip = _REFERENCE_SIGMAS + threshold / limits.min_ticks * (1 + 1e-9)
        witness, anew = self._anchors.step(
            rows,
            witness_values(reading, kept),
            fabric_witness(reading, kept),
            self._cusum.sums(rows),
            clip,
            np.ones(len(rows), dtype=bool),
        )
        self._cusum.reset(rows[anew])
        cusum = self._cusum.step(rows, witness, window.start, clip, threshold + _REFERENCE_SIGMAS)
        cost = reading.cost_ratio[kept]
        wire = np.nan_to_num(reading.wire.ratio[kept], nan=np.inf)
        speaks = (
            (cusum.sum >= threshold)
            & (cusum.ticks >= limits.min_ticks)
            & (cost >= limits.min_cost_ratio)
            & (reading.excess_seconds[kept] >= limits.min_excess.total_seconds())
            & (np.minimum(reading.transfer.ratio[kept], wire) >= limits.min_ratio)
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
                communicator=membership.communicators[int(reading.comm[place])],
                cost_ratio=min(1.0, float(self._cost[row] / self._ticks[row])),
                started_at=float(self._since[row]),
                reading=reading,
                place=place,
                transfers=transfers,
                cusum=float(cusum.sum[at]),
                cusum_threshold=threshold,
            )
            for at, (row, place) in enumerate(zip(rows.tolist(), kept.tolist(), strict=True))
            if self._alarm[row] > 0 and int(reading.comm[place]) in membership.communicators
        ]

    def _jobs(
        self, rows: Rows, reading: FabricReading, kept: Rows, slow: list[SlowCommunicator], membership: Membership
    ) -> dict[str, JobFabric]:
        """The jobs with slow communicators, and what their others are.

        Those that would not be called slow if they slowed down as much as the least of the slow ones say nothing.
        """
        jobs: dict[str, list[SlowCommunicator]] = {}
        for one in slow:
            jobs.setdefault(one.communicator.job, []).append(one)
        found = {}
        for job, group in sorted(jobs.items()):
            least = min(float(reading.transfer.rise[one.place]) for one in group)
            healthy: list[Communicator] = []
            undecided: list[Communicator] = []
            for row, place in zip(rows.tolist(), kept.tolist(), strict=True):
                communicator = membership.communicators.get(int(reading.comm[place]))
                if communicator is None or communicator.job != job or self._alarm[row] > 0:
                    continue
                if reading.time_ratio[place] * np.expm1(least) < self._settings.min_cost_ratio:
                    continue
                rises = self._near[row] > 0 or reading.transfer.rise[place] >= _RISE_SHARE * least
                (undecided if rises else healthy).append(communicator)
            found[job] = JobFabric(group, healthy, undecided)
        return found
