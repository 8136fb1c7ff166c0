"""All detectors together, as one fold over snapshots."""

from collections.abc import Iterable, Mapping

from sentinel.baseline.baseline import Baseline
from sentinel.config.detection import DetectionSettings
from sentinel.detect.frozen_counts import frozen_communicators
from sentinel.detect.hardware import HardwareMemory
from sentinel.detect.missing_stall import StallMerge
from sentinel.detect.open_stalls import OpenStalls
from sentinel.detect.presence import Presence
from sentinel.detect.rank_missing import MissingReading, RankMissingTest
from sentinel.detect.regimes import communicator_states
from sentinel.detect.slowness import Slowness
from sentinel.detect.stalled import find_stalls, stalled_communicators
from sentinel.detect.tick import Tick
from sentinel.detect.uncounted import without_counts
from sentinel.measure.groups import distinct
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership, MembershipReader
from sentinel.measure.standstill import Standstill, StandstillWatch
from sentinel.measure.traffic import Traffic, TrafficReader
from sentinel.measure.warm_up import WarmUp
from sentinel.measure.window import Differencer, Window
from sentinel.model.incident import Assessment, CulpritKey, Finding, Incident
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
        self._traffic = TrafficReader()
        self._members = MembershipReader()
        self._warm_up = WarmUp(settings.baseline)
        self._presence = Presence(settings.gone_after.total_seconds())
        self._standstill = StandstillWatch()
        self._stalls = OpenStalls(self._presence)
        self._missing = RankMissingTest(settings.rank_missing)
        self._merge = StallMerge()
        self._slowness = Slowness(settings, baseline)
        self._hardware = HardwareMemory()

    @property
    def lateness(self) -> Lateness | None:
        """What was measured at the last snapshot; None where nothing could be judged."""
        return self._slowness.lateness

    def recall(self, incidents: Iterable[Incident]) -> None:
        """Earlier incidents, in the order of their start: whether a fault follows the hardware shows against them."""
        self._hardware.recall(incidents)

    def step(self, snapshot: Snapshot, frozen: frozenset[int] = frozenset()) -> Assessment:
        """Take one snapshot. ValueError when time does not advance.

        `frozen`: codes of communicators that are judged as ever, and nothing is learnt from.
        """
        self._slowness.lateness = None
        if snapshot.newest_sample is None:
            # Nothing is scraped any more, or nothing is there to be: no job is known to have ended.
            return Assessment(snapshot.time, (), self._held_keys(), {}, judged=False)
        membership = self._members.read(snapshot)
        warm = self._warm_up.step(snapshot)
        window = self._differencer.step(snapshot)
        traffic = self._traffic.step(snapshot)
        over = self._presence.step(snapshot.time, membership, _heard(window, traffic))
        if over:
            for part in (self._standstill, self._slowness, self._missing):
                part.forget(over)
        # Of every window, judged or not: what moved in one that is left out would seem to stand still.
        standstill = self._standstill.step(window.progress, snapshot) if window else None
        if window is None or standstill is None or snapshot.quality.partial:
            return self._abstain(snapshot, membership, "abstain" if snapshot.quality.partial else "warming")
        stalled = self._find_stalled(window, standstill, snapshot, membership)
        states = communicator_states(window, snapshot, membership, warm, stalled)
        stopped, held = self._find_stopped(stalled, window, snapshot, membership)
        slow, undecided = self._slowness.step(Tick(window, traffic, snapshot, membership, states, frozen))
        findings = self._hardware.step([*stopped, *slow], membership, snapshot.time)
        if not snapshot.quality.counted:
            findings = [without_counts(finding) for finding in findings]
        return Assessment(snapshot.time, tuple(findings), frozenset(held | undecided), self._named(states, membership))

    def _find_stalled(
        self, window: Window, standstill: Standstill, snapshot: Snapshot, membership: Membership
    ) -> Mapping[int, float]:
        """Stalled communicators by code, with the seconds since; what is in flight tells better since when."""
        settings = self._settings.stalled
        if not settings.enabled:
            return {}
        frozen = frozen_communicators(standstill, membership, snapshot, settings)
        return {**frozen, **stalled_communicators(window, snapshot, settings)}

    def _find_stopped(
        self, stalled: Mapping[int, float], window: Window, snapshot: Snapshot, membership: Membership
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """Stalls and missing ranks, one finding for each cause; and the keys of those that are held."""
        stalls, held = self._stalls.step(find_stalls(stalled, membership, snapshot), window, snapshot, membership)
        missing = MissingReading()
        if self._settings.rank_missing.enabled:
            missing = self._missing.step(window, snapshot, membership)
        kept, lost = self._merge.step(stalls, missing, self._stalls.keys | self._missing.keys)
        return [*kept, *lost], held | missing.held

    def _abstain(self, snapshot: Snapshot, membership: Membership, state: str) -> Assessment:
        states = self._named(dict.fromkeys(membership.communicators, state), membership)
        return Assessment(snapshot.time, (), self._held_keys(), states, judged=False)

    def _held_keys(self) -> frozenset[CulpritKey]:
        """Of findings that stand, while nobody can be judged."""
        return self._stalls.keys | self._missing.keys | self._slowness.keys

    @staticmethod
    def _named(states: Mapping[int, str], membership: Membership) -> dict[str, str]:
        return {membership.communicators[comm].id: state for comm, state in states.items()}


def _heard(window: Window | None, traffic: Traffic) -> set[int]:
    """Communicators with any series that something is kept of."""
    heard = distinct(traffic.peers.comm) | distinct(traffic.network.comm)
    if window is not None:
        heard |= window.labels.distinct("comm") | window.progress.labels.distinct("comm")
    return heard
