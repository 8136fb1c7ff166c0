"""Everybody works, but somebody or something slowly: the verdicts about that."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np

from sentinel.baseline.baseline import Baseline
from sentinel.config.detection import DetectionSettings
from sentinel.config.detection_drift import DriftSettings
from sentinel.detect.drift import TRANSFER, DriftTest, Series, lateness_series
from sentinel.detect.imbalance import Imbalance
from sentinel.detect.job_thresholds import JobThresholds
from sentinel.detect.late_ranks import LateRanks
from sentinel.detect.one_cause import NodeMerge, without_victims
from sentinel.detect.own_history import OwnHistory
from sentinel.detect.regimes import JUDGED, mark_learning
from sentinel.detect.slow_fabric import FabricLook, SlowFabric
from sentinel.detect.slow_links import SlowLinks
from sentinel.detect.tick import Tick
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.processes import WaitLayoutReader
from sentinel.measure.step_times import StepTimes, measure_step_times
from sentinel.measure.waits import measure_waits
from sentinel.model.incident import CulpritKey, Finding

__all__ = ["Slowness"]


class Slowness:
    """Slow links, late ranks, slow fabrics, drifts and imbalances."""

    def __init__(self, settings: DetectionSettings, baseline: Baseline | None) -> None:
        budget, history_ticks = settings.false_alarms_per_month, settings.baseline.min_ticks
        thresholds = JobThresholds(settings)
        self._settings = settings
        self._history = OwnHistory(settings.baseline, baseline)
        self._layouts = WaitLayoutReader()
        self._links = SlowLinks(settings.slow_link, history_ticks, budget)
        self._late = LateRanks(settings, thresholds)
        # Functions of the module's own: a backtest keeps all of this, and goes on with it in another process.
        names_places, drift = partial(_names_places, thresholds), partial(_drift, thresholds)
        self._fabric = SlowFabric(settings.slow_fabric, history_ticks, budget, baseline, names_places)
        self._drift = DriftTest(settings.drift, budget, drift)
        self._imbalance = Imbalance(settings.imbalance)
        self._nodes = NodeMerge()
        self._keys: frozenset[CulpritKey] = frozenset()
        self.lateness: Lateness | None = None  # of the last tick that was judged

    @property
    def keys(self) -> frozenset[CulpritKey]:
        """Of what was found or held at the last tick that was judged."""
        return self._keys

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        for part in (self._links, self._late, self._fabric, self._drift):
            part.forget(comms)

    def step(self, tick: Tick) -> tuple[list[Finding], set[CulpritKey]]:
        """Findings, and the keys of those about whom nothing can be said this time. Marks states as `learning`."""
        membership, vocabulary, states = tick.membership, tick.vocabulary, tick.states
        known = membership.communicators
        self._history.forget(membership, tick.window.end)
        lateness = measure_lateness(tick.window, vocabulary, self._settings.baseline.min_operations)
        self.lateness = lateness
        reference = self._history.reference(lateness, membership, vocabulary)
        mark_learning(states, lateness, reference)
        judged = {comm for comm, state in states.items() if state in JUDGED}

        times = measure_step_times(tick.traffic.network, vocabulary, self._settings.slow_link.min_steps)
        look = (
            self._fabric.look(lateness, times, membership, vocabulary) if self._settings.slow_fabric.enabled else None
        )
        risen = {} if look is None else look.reading.risen()
        links, held = self._find_links(tick, times, lateness, risen)
        series, pairs = self._late.test(tick.window, lateness, reference, judged, membership)
        suspects = self._late.suspects() | self._links.suspects()
        # Whoever waits behind a fault leaves the next communicator's collectives in another order: nothing of a job is
        # normal while somebody in it is alarmed.
        disturbed = {
            known[comm].job for comm in self._late.alarmed() | self._links.slow_communicators() if comm in known
        }
        healthy = {comm for comm in judged - suspects - tick.frozen if known[comm].job not in disturbed}
        self._history.learn(lateness, membership, vocabulary, lambda comm: comm in healthy)
        # What follows from a late rank or a slow link shows in all communicators of its job.
        suspected = {known[comm].job for comm in suspects if comm in known}
        apart = {comm for comm in judged if known[comm].job in suspected}
        fabric, undecided = self._find_fabric(tick, look, judged, apart)
        held |= undecided

        waits = measure_waits(tick.window, lateness, tick.traffic, vocabulary)
        layout = self._layouts.read(waits, membership)
        slow = self._links.slow_communicators() | self._fabric.slow_communicators()
        # Where a link is slow its card is so in the process's other communicators, whether it stands out there or not.
        linked = {known[comm].job for comm in self._links.slow_communicators() if comm in known}
        slow |= {comm for comm in risen if comm in known and known[comm].job in linked}
        fit = judged - apart
        learnable = fit - tick.frozen
        late, undecided = self._late.name(
            series, pairs, lateness, reference, waits, layout, learnable, slow, membership, vocabulary
        )
        held |= undecided
        late, victims = without_victims(late, links, self._links.slow_communicators(), membership)
        held |= victims
        found = self._nodes.step([*links, *self._late.accuse(late)], membership) + fabric
        uneven, undecided = self._imbalance.step(waits, layout, membership, fit, tick.window.start)
        held |= undecided
        drifting, undecided = self._find_drift(tick, lateness, learnable, {each.culprit.key for each in found} | held)
        held |= undecided
        found += [*uneven, *drifting]
        held -= {finding.culprit.key for finding in found}
        self._keys = frozenset(held | {finding.culprit.key for finding in found})
        return found, held

    def _find_links(
        self, tick: Tick, times: StepTimes, lateness: Lateness, risen: Mapping[int, float]
    ) -> tuple[list[Finding], set[CulpritKey]]:
        if not self._settings.slow_link.enabled:
            return [], set()
        return self._links.step(
            tick.window,
            tick.traffic,
            times,
            lateness,
            tick.membership,
            tick.vocabulary,
            tick.states,
            frozenset(self._late.suspects()) | tick.frozen,
            risen,
        )

    def _find_fabric(
        self, tick: Tick, look: FabricLook | None, judged: set[int], apart: set[int]
    ) -> tuple[list[Finding], set[CulpritKey]]:
        if look is None:
            return [], set()
        known = tick.membership.communicators
        # Who is late makes no transfer longer, and who is in a slow communicator is late in the next one.
        linked = {known[comm].job for comm in self._links.suspects() if comm in known}
        slow = {comm for comm in judged if known[comm].job in linked}
        return self._fabric.step(
            tick.window, look, tick.membership, tick.vocabulary, tick.states, slow, tick.frozen | apart
        )

    def _find_drift(
        self, tick: Tick, lateness: Lateness, fit: set[int], late: set[CulpritKey]
    ) -> tuple[Sequence[Finding], set[CulpritKey]]:
        if not self._settings.drift.enabled:
            return [], set()
        comm, ratio = self._fabric.costs()
        kept = np.isin(comm, np.fromiter(fit, dtype=np.int64))
        transfers = Series(comm[kept], np.full(int(kept.sum()), TRANSFER, dtype=np.int32), ratio[kept])
        series = [lateness_series(lateness, fit), transfers]
        reading = self._drift.step(series, tick.membership, late, tick.window.end)
        return reading.findings, set(reading.held)


def _names_places(thresholds: JobThresholds, job: str) -> bool:
    return thresholds.of_job(job).slow_link.enabled


def _drift(thresholds: JobThresholds, job: str) -> DriftSettings:
    return thresholds.of_job(job).drift
