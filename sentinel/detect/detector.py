"""All detectors together, as one fold over snapshots."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sentinel.baseline.baseline import Baseline
from sentinel.config.detection import DetectionSettings
from sentinel.detect.frozen_counts import frozen_communicators
from sentinel.detect.late_evidence import late_finding
from sentinel.detect.late_rank import LateRankTest, LateSeries
from sentinel.detect.open_stalls import OpenStalls
from sentinel.detect.own_history import OwnHistory, Reference
from sentinel.detect.pool import Pairs
from sentinel.detect.presence import Presence
from sentinel.detect.stalled import find_stalls, stalled_communicators
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import Membership, MembershipReader
from sentinel.measure.standstill import Standstill, StandstillWatch
from sentinel.measure.warm_up import WarmUp
from sentinel.measure.window import Differencer, Window
from sentinel.model.incident import Assessment, CulpritKey, Finding
from sentinel.model.snapshot import Snapshot

__all__ = ["Detector"]


class Detector:
    """Feed it snapshots in the order of time; it answers with what it thinks of each.

    States of a communicator: `warming`, `learning` (no history of its own yet), `watching`, `paused` (nothing
    launched, nothing in flight), `stalled`, `abstain` (too few ranks known, or a partial answer), `gone`.
    """

    def __init__(self, settings: DetectionSettings, baseline: Baseline | None = None) -> None:
        self._settings = settings
        self._differencer = Differencer()
        self._members = MembershipReader()
        self._warm_up = WarmUp(settings.baseline)
        self._history = OwnHistory(settings.baseline, baseline)
        self._late = LateRankTest(settings)
        self._presence = Presence(settings.gone_after.total_seconds())
        self._keys: dict[tuple[int, int], CulpritKey] = {}  # of the late ranks whose alarm stands, by (comm, rank)
        self._standstill = StandstillWatch()
        self._stalls = OpenStalls(self._presence)

    def step(self, snapshot: Snapshot) -> Assessment:
        """Take one snapshot. ValueError when time does not advance."""
        membership = self._members.read(snapshot)
        warm = self._warm_up.step(snapshot)
        window = self._differencer.step(snapshot)
        for comm in self._presence.step(snapshot.time, membership):
            self._late.forget(comm)
        # Of every window, judged or not: what moved in one that is left out would seem to stand still.
        standstill = self._standstill.step(window.progress, snapshot) if window else None
        if window is None or standstill is None or snapshot.quality.partial:
            state = "abstain" if snapshot.quality.partial else "warming"
            return self._abstain(snapshot, membership, state)
        stalled = self._find_stalled(window, standstill, snapshot, membership)
        states = self._states(window, snapshot, membership, warm, stalled)
        stalls, held = self._stalls.step(find_stalls(stalled, membership, snapshot), window, snapshot, membership)
        late = self._find_late(window, snapshot, membership, states) if self._settings.late_rank.enabled else []
        held |= self._held(late)
        return Assessment(snapshot.time, (*stalls, *late), frozenset(held), self._named(states, membership))

    def _find_stalled(
        self, window: Window, standstill: Standstill, snapshot: Snapshot, membership: Membership
    ) -> Mapping[int, float]:
        """Stalled communicators by code, with the seconds since; what is in flight tells better since when."""
        settings = self._settings.stalled
        if not settings.enabled:
            return {}
        frozen = frozen_communicators(standstill, membership, snapshot, settings)
        return {**frozen, **stalled_communicators(window, snapshot, settings)}

    def _find_late(
        self, window: Window, snapshot: Snapshot, membership: Membership, states: dict[int, str]
    ) -> list[Finding]:
        vocabulary = snapshot.vocabulary
        lateness = measure_lateness(window, vocabulary, self._settings.baseline.min_operations)
        reference = self._history.reference(lateness, membership, vocabulary)
        self._mark_learning(lateness, reference, states)
        fit = {comm for comm, state in states.items() if state in ("learning", "watching")}
        pairs = Pairs.among(lateness, np.isin(lateness.comm, np.fromiter(fit, dtype=np.int64)))
        series = self._late.step(window, lateness, reference, pairs)
        fit -= self._late.suspects()
        self._history.learn(lateness, membership, vocabulary, lambda comm: comm in fit)
        return self._merge(series, lateness, reference, pairs, snapshot, membership)

    def _merge(
        self,
        series: list[LateSeries],
        lateness: Lateness,
        reference: Reference,
        pairs: Pairs,
        snapshot: Snapshot,
        membership: Membership,
    ) -> list[Finding]:
        """One finding a process, however many of its communicators it is late in."""
        processes: dict[tuple[str, str, int], list[LateSeries]] = defaultdict(list)
        for one in series:
            member = membership.member(one.comm, one.rank)
            if member is not None:
                processes[membership.communicators[one.comm].job, member.node, member.global_rank].append(one)
        findings = []
        for _, late in sorted(processes.items()):
            worst, *others = sorted(late, key=lambda one: (-one.cost_ratio, snapshot.vocabulary.text(one.comm)))
            communicator = membership.communicators[worst.comm]
            finding = late_finding(
                worst,
                others,
                communicator,
                communicator.members[worst.rank],
                lateness,
                reference,
                pairs,
                snapshot.vocabulary,
            )
            findings.append(finding)
            for one in late:
                self._keys[one.comm, one.rank] = finding.culprit.key
        return findings

    def _states(
        self,
        window: Window,
        snapshot: Snapshot,
        membership: Membership,
        warm: Mapping[int, bool],
        stalled: Mapping[int, float],
    ) -> dict[int, str]:
        active = set(window.comm.tolist())
        active |= set(window.progress.comm[np.nan_to_num(window.progress.launched) > 0].tolist())
        active |= set(snapshot.in_flight.comm[np.nan_to_num(snapshot.in_flight.oldest_seconds) > 0].tolist())
        states = {}
        for comm, communicator in membership.communicators.items():
            known, nranks = len(communicator.members), communicator.role.nranks
            if comm in stalled:
                states[comm] = "stalled"
            elif comm not in active:
                states[comm] = "paused"
            elif not warm.get(comm, False):
                states[comm] = "warming"
            elif known < max(2, nranks / 2) and nranks > 1:
                states[comm] = "abstain"
            else:
                states[comm] = "watching"
        return states

    @staticmethod
    def _mark_learning(lateness: Lateness, reference: Reference, states: dict[int, str]) -> None:
        known = set(lateness.comm[reference.known].tolist())
        for comm in set(lateness.comm.tolist()) - known:
            if states.get(comm) == "watching":
                states[comm] = "learning"

    def _held(self, late: list[Finding]) -> set[CulpritKey]:
        """Late ranks whose alarm stands, and about which nothing could be said this time."""
        standing = self._late.alarms()
        self._keys = {pair: key for pair, key in self._keys.items() if pair in standing}
        return set(self._keys.values()) - {finding.culprit.key for finding in late}

    def _abstain(self, snapshot: Snapshot, membership: Membership, state: str) -> Assessment:
        held = self._stalls.keys | set(self._keys.values())
        states = self._named(dict.fromkeys(membership.communicators, state), membership)
        return Assessment(snapshot.time, (), held, states, judged=False)

    @staticmethod
    def _named(states: Mapping[int, str], membership: Membership) -> dict[str, str]:
        return {membership.communicators[comm].id: state for comm, state in states.items()}
