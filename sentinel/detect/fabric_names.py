"""Whom the slow communicators of a job name: the place where they meet, else the fabric."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sentinel.detect.common_node import MIN_HEALTHY, comparable
from sentinel.detect.common_place import CommonPlace
from sentinel.detect.culprit import culprit_of
from sentinel.detect.one_cause import ranks_on
from sentinel.detect.slow_fabric_evidence import SlowCommunicator, by_cost, slow_fabric_finding
from sentinel.measure.membership import Communicator, Membership
from sentinel.model.incident import Culprit, CulpritKey, Finding, Verdict
from sentinel.model.vocabulary import Vocabulary

__all__ = ["FabricNames", "JobFabric"]

_PATIENCE_TICKS = 2  # for communicators that may be called slow with the next tick
_KEPT_TICKS = 10  # for which a job that was named may show nothing, and has the same name if it comes back


@dataclass(frozen=True)
class JobFabric:
    """The communicators of a job that say something: slow ones, healthy ones, and those that are neither yet."""

    slow: Sequence[SlowCommunicator]
    healthy: Collection[Communicator]
    undecided: Collection[Communicator]

    def place(self) -> CommonPlace | None:
        """Where all meet that are slow or on their way to it."""
        return CommonPlace.of([*self._slow, *self.undecided], self.healthy)

    @property
    def is_clear(self) -> bool:
        """Whether another tick is not likely to show more.

        The slow ones alone say the same as all that are on their way to it; where they say nothing, they have to be
        most of those that can be compared: a fabric that is slow makes all of them so.
        """
        healthy = comparable(self._slow, self.healthy)
        if len(healthy) < MIN_HEALTHY:
            return True
        place, sure = self.place(), CommonPlace.of(self._slow, healthy)
        if sure is not None:
            return sure.is_at(place)
        return place is None and len(self.slow) > len(healthy) + len(self.undecided)

    @property
    def _slow(self) -> list[Communicator]:
        return [one.communicator for one in self.slow]


class FabricNames:
    """One finding a job, under the name that it was first given, as long as one of its communicators is slow."""

    def __init__(self, names_places: Callable[[str], bool]) -> None:
        """`names_places(job_id)`: whether a job wants to hear of slow links, and not of the fabric alone."""
        self._names_places = names_places
        self._named: dict[str, Culprit] = {}  # by job
        self._absent: dict[str, int] = {}  # ticks without an alarm, by job that is named
        self._waited: dict[str, int] = {}  # ticks, by job that is not named yet

    @property
    def keys(self) -> set[CulpritKey]:
        """Of all findings that stand."""
        return {culprit.key for job, culprit in self._named.items() if not self._absent[job]}

    def step(
        self, jobs: Mapping[str, JobFabric], standing: Collection[int], membership: Membership, vocabulary: Vocabulary
    ) -> list[Finding]:
        """The findings of one tick. `standing`: codes of the communicators whose alarm stands, judged or not."""
        there = {membership.communicators[each].job if each in membership.communicators else None for each in standing}
        # A communicator that is away may be of any job: nothing ends.
        if None not in there:
            self._absent = {job: 0 if job in there else ticks + 1 for job, ticks in self._absent.items()}
            self._named = {job: each for job, each in self._named.items() if self._absent[job] <= _KEPT_TICKS}
            self._absent = {job: self._absent[job] for job in self._named}
        self._waited = {job: ticks for job, ticks in self._waited.items() if job in jobs}
        findings = []
        for job, fabric in sorted(jobs.items()):
            place = fabric.place()
            culprit = self._named.get(job)
            if culprit is None and not self._is_ripe(job, fabric):
                continue
            if culprit is None:
                culprit = self._named[job] = self._culprit(fabric, place, membership)
            self._absent[job] = 0
            findings.append(slow_fabric_finding(fabric.slow, culprit, place, vocabulary))
        return findings

    def _is_ripe(self, job: str, fabric: JobFabric) -> bool:
        """Whether nothing is gained by waiting for communicators that are about to be slow."""
        self._waited[job] = self._waited.get(job, 0) + 1
        return fabric.is_clear or self._waited[job] > _PATIENCE_TICKS

    def _culprit(self, fabric: JobFabric, place: CommonPlace | None, membership: Membership) -> Culprit:
        communicator = by_cost(fabric.slow)[0].communicator
        if place is None or not self._names_places(communicator.role.job_id):
            return culprit_of(Verdict.SLOW_FABRIC, communicator)
        if not place.gpu:
            culprit = culprit_of(Verdict.SLOW_LINK, communicator)
            return replace(culprit, ranks=ranks_on(place.node, communicator.job, membership), node=place.node)
        members = [
            each
            for each in communicator.members.values()
            if each.node == place.node and (each.gpu_uuid or each.gpu) == place.gpu
        ]
        return culprit_of(Verdict.SLOW_LINK, communicator, members)
