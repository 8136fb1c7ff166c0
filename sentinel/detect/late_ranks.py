"""Late ranks as findings: one a process, about those that nobody else made late."""

from collections import defaultdict
from collections.abc import Collection

from sentinel.config.detection import DetectionSettings
from sentinel.detect.job_thresholds import JobThresholds
from sentinel.detect.late_evidence import late_finding
from sentinel.detect.late_floors import LateFloors
from sentinel.detect.late_rank import LateRankTest, LateSeries
from sentinel.detect.own_history import Reference
from sentinel.detect.pool import Pairs
from sentinel.detect.wait_chain import WaitChain
from sentinel.detect.wait_verdict import judge
from sentinel.measure.halves import HalvesReader
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.processes import WaitLayout
from sentinel.measure.waits import Waits
from sentinel.measure.window import Window
from sentinel.model.incident import CulpritKey, Finding
from sentinel.model.vocabulary import Vocabulary

__all__ = ["LateRanks"]


class LateRanks:
    """The test, the wait chain behind it, and whose alarm stands under which name."""

    def __init__(self, settings: DetectionSettings, thresholds: JobThresholds) -> None:
        self._thresholds = thresholds
        self._enabled = settings.late_rank.enabled
        self._test = LateRankTest(settings)
        self._halves = HalvesReader()
        self._chain = WaitChain(settings.wait_chain, settings.baseline.min_ticks)
        self._keys: dict[tuple[int, int], CulpritKey] = {}  # of the late ranks whose alarm stands, by (comm, rank)
        self._speaking: set[CulpritKey] = set()  # about whom the evidence is enough at this tick
        self._accused: set[CulpritKey] = set()

    @property
    def keys(self) -> frozenset[CulpritKey]:
        """Of the late ranks whose alarm stands."""
        return frozenset(self._keys.values())

    def suspects(self) -> set[int]:
        """Communicators in which a rank is alarmed or stands out: nothing there is fit to learn from."""
        return self._test.suspects()

    def alarmed(self) -> set[int]:
        """Communicators in which a rank's alarm stands."""
        return {comm for comm, _ in self._test.alarms()}

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._test.forget(comms)
        self._chain.forget(comms)

    def test(
        self,
        window: Window,
        lateness: Lateness,
        reference: Reference,
        judged: Collection[int],
        membership: Membership,
    ) -> tuple[list[LateSeries], Pairs]:
        """Who is late in which communicator, among those that can be judged."""
        kept = lateness.labels.among("comm", judged)
        pairs = Pairs.among(lateness, kept, self._halves, membership)
        floors = LateFloors.of(pairs, membership, self._thresholds)
        return (self._test.step(window, lateness, reference, pairs, floors) if self._enabled else []), pairs

    def name(
        self,
        series: list[LateSeries],
        pairs: Pairs,
        lateness: Lateness,
        reference: Reference,
        waits: Waits,
        layout: WaitLayout,
        fit: Collection[int],
        slow: Collection[int],
        membership: Membership,
        vocabulary: Vocabulary,
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """Findings about the roots, and the keys of those about whom nothing can be said this time.

        fit: communicators that may be learnt from. slow: those that another verdict calls slow as a whole.
        """
        late = self._merge(series, lateness, reference, pairs, membership, vocabulary)
        judged = judge(late, self._chain.step(waits, layout, series, fit, slow), vocabulary)
        standing = self._test.alarms()
        self._keys = {pair: key for pair, key in self._keys.items() if pair in standing}
        said = {finding.culprit.key for finding in judged.findings}
        # A victim that was accused before is excused: it is not held, and its incident ends.
        return list(judged.findings), (set(self._keys.values()) | judged.held) - judged.victims - said

    def accuse(self, findings: list[Finding]) -> list[Finding]:
        """Of what is left of the findings of this tick, that about ranks accused before or shown to be late right now.

        Alarms end slowly. A victim's that outlives the fault behind it accuses nobody: its root is not seen any more.
        """
        accused = [finding for finding in findings if finding.culprit.key in self._speaking | self._accused]
        self._accused = (self._accused & self.keys) | {finding.culprit.key for finding in accused}
        return accused

    def _merge(
        self,
        series: list[LateSeries],
        lateness: Lateness,
        reference: Reference,
        pairs: Pairs,
        membership: Membership,
        vocabulary: Vocabulary,
    ) -> list[Finding]:
        """One finding a process, however many of its communicators it is late in."""
        processes: dict[tuple[str, str, int], list[LateSeries]] = defaultdict(list)
        for one in series:
            member = membership.member(one.comm, one.rank)
            if member is not None:
                processes[membership.communicators[one.comm].job, member.node, member.global_rank].append(one)
        findings = []
        self._speaking = set()
        for _, late in sorted(processes.items()):
            worst, *others = sorted(late, key=lambda one: (-one.cost_ratio, vocabulary.text(one.comm)))
            communicator = membership.communicators[worst.comm]
            member = communicator.members[worst.rank]
            finding = late_finding(worst, others, communicator, member, lateness, reference, pairs, vocabulary)
            findings.append(finding)
            if any(one.speaks for one in late):
                self._speaking.add(finding.culprit.key)
            for one in late:
                self._keys[one.comm, one.rank] = finding.culprit.key
        return findings
