"""Pipeline stages that have more to do than others: a property of the workload, which no rank is to blame for."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.config.detection_imbalance import ImbalanceSettings
from sentinel.detect.culprit import culprit_of
from sentinel.measure.membership import Membership
from sentinel.measure.processes import WaitLayout
from sentinel.measure.waits import COLLECTIVES, Waits
from sentinel.model.incident import Culprit, CulpritKey, Finding, Verdict

__all__ = ["Imbalance"]

Floats = npt.NDArray[np.float64]

_STAGES_SHOWN = 16


@dataclass
class _Course:
    """What is known of a job: since when it is judged, in how many ticks, and the finding's key once it is made."""

    started_at: float
    ticks: int = 0
    culprit: Culprit | None = None
    even_at_start: bool = False


@dataclass(frozen=True)
class _Skew:
    """The stages of one job, by communicator: which share of time the median rank waits. The first waits least."""

    stages: Sequence[tuple[int, float]]

    @property
    def ratio(self) -> float:
        """What the median of the other stages waits more than the one that waits least."""
        return float(np.median([waits for _, waits in self.stages[1:]])) - self.stages[0][1]


class Imbalance:
    """One finding a job whose stages have differed from its first ticks on; what begins later has another cause.

    Who has more to do waits less, in Recv and collectives together: in Recv alone a balanced pipeline's last stage
    waits less as well, as it is idle at the end of a step and the first stage in between.
    """

    def __init__(self, settings: ImbalanceSettings) -> None:
        self._settings = settings
        self._courses: dict[str, _Course] = {}

    def step(
        self, waits: Waits, layout: WaitLayout, membership: Membership, fit: Collection[int], start: float
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """Findings, and keys about which nothing can be said. start: of the window, Unix seconds.

        fit: communicators that can be judged and in whose job no rank is suspected to be late: what follows from that
        is no imbalance.
        """
        if not self._settings.enabled:
            return [], set()
        jobs = {communicator.job for communicator in membership.communicators.values()}
        self._courses = {job: course for job, course in self._courses.items() if job in jobs}
        skews = _skews(waits, layout, membership, frozenset(fit))
        findings = [finding for job, skew in skews.items() if (finding := self._judge(job, skew, membership, start))]
        known = {job: course.culprit for job, course in self._courses.items() if job not in skews}
        return findings, {culprit.key for culprit in known.values() if culprit is not None}

    def _judge(self, job: str, skew: _Skew, membership: Membership, start: float) -> Finding | None:
        course = self._courses.setdefault(job, _Course(start))
        course.ticks += 1
        is_skewed = skew.ratio >= self._settings.min_skew_ratio
        if course.ticks <= self._settings.start_ticks:
            course.even_at_start |= not is_skewed
        if course.even_at_start or not is_skewed or course.ticks < self._settings.start_ticks:
            return None
        if course.culprit is None:
            heavy = membership.communicators[skew.stages[0][0]]
            course.culprit = culprit_of(Verdict.IMBALANCE, heavy)
        of_stage = {comm: membership.communicators[comm] for comm, _ in skew.stages}
        return Finding(
            culprit=course.culprit,
            cost_ratio=min(1.0, skew.ratio),
            started_at=course.started_at,
            victims=sum(len(of_stage[comm].members) for comm, _ in skew.stages[1:]),
            evidence={
                "skew_ratio": round(skew.ratio, 4),
                "stages": [
                    {"ranks": of_stage[comm].role.members, "waits_ratio": round(waited, 4)}
                    for comm, waited in skew.stages[:_STAGES_SHOWN]
                ],
            },
        )


def _skews(waits: Waits, layout: WaitLayout, membership: Membership, fit: frozenset[int]) -> Mapping[str, _Skew]:
    """By job; only those that receive, and whose stages can all be judged."""
    processes = layout.processes
    known = layout.process >= 0
    waited = np.bincount(layout.process[known], weights=waits.inside_ratio[known], minlength=len(processes.keys))
    received = known & (waits.peer != COLLECTIVES) & (layout.source >= 0)
    receiver, source = layout.process[received], layout.source[received]
    kinds: dict[tuple[str, int], list[int]] = defaultdict(list)
    for comm, kind in processes.kind.items():
        kinds[membership.communicators[comm].job, kind].append(comm)
    skews: dict[str, tuple[int, _Skew]] = {}
    for (job, _), comms in kinds.items():
        if len(comms) < 2 or not fit.issuperset(comms):
            continue
        stage = np.full(len(processes.keys), -1)
        for comm in comms:
            stage[processes.members[comm]] = comm
        mine = (stage[receiver] >= 0) & (stage[source] >= 0)
        size = max(len(processes.members[comm]) for comm in comms)
        # A stage's ranks receive from other stages only. Of several ways to divide the ranks so, the coarsest.
        if not mine.any() or (stage[receiver] == stage[source])[mine].any() or size <= skews.get(job, (0, None))[0]:
            continue
        stages = sorted(((comm, float(np.median(waited[processes.members[comm]]))) for comm in comms), key=_by_wait)
        skews[job] = (size, _Skew(stages))
    return {job: skew for job, (_, skew) in skews.items()}


def _by_wait(stage: tuple[int, float]) -> tuple[float, int]:
    return stage[1], stage[0]
