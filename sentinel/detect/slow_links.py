"""Slow links as findings: one a process, however many of its links are slow."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from types import MappingProxyType

from sentinel.config.detection_slow_link import SlowLinkSettings
from sentinel.detect.regimes import JUDGED
from sentinel.detect.slow_link import SlowLinkTest, SlowSeries
from sentinel.detect.slow_link_evidence import slow_link_finding
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.operation_time import operation_ratio
from sentinel.measure.step_times import StepTimes
from sentinel.measure.traffic import Traffic
from sentinel.measure.window import Window
from sentinel.model.incident import CulpritKey, Finding
from sentinel.model.vocabulary import Vocabulary

__all__ = ["SlowLinks"]


class SlowLinks:
    """Feed it every window that is judged."""

    def __init__(self, settings: SlowLinkSettings, history_ticks: int, false_alarms_per_month: float) -> None:
        """`history_ticks` are those that a link's own history needs."""
        self._settings = settings
        self._test = SlowLinkTest(settings, history_ticks, false_alarms_per_month)
        self._keys: dict[tuple[int, int], CulpritKey] = {}  # of the alarms that stand, by (comm, rank)

    def step(
        self,
        window: Window,
        traffic: Traffic,
        times: StepTimes,
        lateness: Lateness,
        membership: Membership,
        vocabulary: Vocabulary,
        states: Mapping[int, str],
        unfit: frozenset[int] = frozenset(),
        risen: Mapping[int, float] = MappingProxyType({}),
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """What is found in one window, and the culprits about which nothing could be said this time.

        `states` by communicator: only those in `learning` or `watching` are judged. `unfit` are communicators that are
        not to be learnt from, since something else is wrong there. `risen` are those whose transfers have become
        longer, with what that costs.
        """
        judged = {comm for comm, state in states.items() if state in JUDGED}
        times = times.of(judged)
        spent = operation_ratio(window, traffic.peers, times.comm)
        slow = self._test.step(times, spent, lateness, judged - unfit, risen, window.start, window.length_seconds)
        findings = []
        for series in _by_process(slow, times, membership):
            comm, rank = int(times.comm[series[0].place]), int(times.rank[series[0].place])
            communicator = membership.communicators[comm]
            finding = slow_link_finding(
                series, times, traffic.network, communicator, communicator.members[rank], vocabulary
            )
            findings.append(finding)
            for one in series:
                self._keys[int(times.comm[one.place]), int(times.rank[one.place])] = finding.culprit.key
        return findings, self._held(findings)

    @property
    def keys(self) -> set[CulpritKey]:
        """Of all alarms that stand."""
        return set(self._keys.values())

    def suspects(self) -> set[int]:
        """Communicators in which a link is alarmed or on its way to it."""
        return self._test.suspects()

    def slow_communicators(self) -> set[int]:
        """Communicators in which a link's alarm stands."""
        return {comm for comm, _ in self._test.alarms()}

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._test.forget(comms)

    def _held(self, findings: list[Finding]) -> set[CulpritKey]:
        standing = self._test.alarms()
        self._keys = {pair: key for pair, key in self._keys.items() if pair in standing}
        return self.keys - {finding.culprit.key for finding in findings}


def _by_process(slow: list[SlowSeries], times: StepTimes, membership: Membership) -> list[list[SlowSeries]]:
    """The slow links of each process, the most costly first."""
    processes: dict[tuple[str, str, int], list[SlowSeries]] = defaultdict(list)
    for one in sorted(slow, key=lambda each: (-each.cost_ratio, each.place)):
        comm = int(times.comm[one.place])
        member = membership.member(comm, int(times.rank[one.place]))
        if member is not None:
            processes[membership.communicators[comm].job, member.node, member.global_rank].append(one)
    return [series for _, series in sorted(processes.items(), key=lambda item: item[0])]
