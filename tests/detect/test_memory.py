"""What detection keeps of jobs that are over: nothing that adds up, and nothing that is taken for another's."""

import gc
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
import pytest
from cluster.job import Job
from cluster.judge import SETTINGS, steps
from cluster.watched import Watched
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.layout import Layout
from simulator.noise import Normal
from simulator.presets import pipeline, two_level
from simulator.regimes import PartialAnswer, Restart

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Assessment, Verdict
from sentinel.model.snapshot import CommunicatorTable, Snapshot
from sentinel.model.vocabulary import Vocabulary

LIFE_TICKS = 12
LIVES = 60  # of one job, with new communicator ids each time
TICK_SECONDS = 30.0

Lives = Iterator[list[Snapshot]]


def kept(detector: Detector) -> tuple[int, int]:
    """Bytes in all arrays that a detector can reach, and entries of all containers; but for the source's words."""
    seen, reached, bytes_, entries = set[int](), list[object]([detector]), 0, 0
    while reached:
        each = reached.pop()
        code = (type, ModuleType, FunctionType, BuiltinFunctionType, Vocabulary)
        if id(each) in seen or isinstance(each, code):
            continue
        seen.add(id(each))
        if not isinstance(each, np.ndarray):
            entries += len(each) if isinstance(each, dict | list | set | frozenset | tuple | deque) else 0
            reached += gc.get_referents(each)
        elif each.base is None:
            bytes_ += each.nbytes
        else:
            reached.append(each.base)
    return bytes_, entries


def restarting(
    layout: Layout, *, lives: int = LIVES, ticks: int = LIFE_TICKS, tick_seconds: float = TICK_SECONDS
) -> tuple[Cluster, Lives]:
    """A job, and its snapshots by life; it starts again soon after the last one of each."""
    cluster = Cluster(layout, (Normal(0.02),), seed=3, tick_seconds=tick_seconds)
    begins = [(number * ticks + 0.25) * tick_seconds for number in range(1, lives)]
    cluster.add(*(Restart(begin=begin, down_seconds=0.25 * tick_seconds) for begin in begins))
    return cluster, (list(cluster.snapshots(ticks)) for _ in range(lives))


def without_the_largest(snapshot: Snapshot) -> Snapshot:
    """Nobody says who is in the communicator of all ranks."""
    table = snapshot.communicators
    known = table.nranks < table.nranks.max(initial=0)
    columns = {each.name: getattr(table, each.name)[known] for each in fields(CommunicatorTable)}
    instance = snapshot.instance[known] if len(snapshot.instance) else snapshot.instance
    told = CommunicatorTable(**columns)
    return replace(snapshot, communicators=told, sampled_at=snapshot.sampled_at[known], instance=instance)


def of_job(snapshot: Snapshot, job_id: str) -> Snapshot:
    table = snapshot.communicators
    code = snapshot.vocabulary.code(job_id)
    return replace(snapshot, communicators=replace(table, job_id=np.full_like(table.job_id, code)))


def watched(detector: Detector, lives: Lives, seen: Callable[[Snapshot], Snapshot]) -> list[tuple[int, int]]:
    """What is kept at the end of each life."""
    found = []
    for snapshots in lives:
        for snapshot in snapshots:
            detector.step(seen(snapshot))
        found.append(kept(detector))
    return found


def assert_flat(early: tuple[int, int], late: tuple[int, int]) -> None:
    assert late[0] <= 1.02 * early[0]
    assert late[1] <= 1.02 * early[1]


@pytest.mark.parametrize("partial", [False, True], ids=["whole", "partial"])
@pytest.mark.parametrize("layout", [two_level(16), pipeline(4, 4)], ids=["two-level", "pipeline"])
def test_restarts_leave_nothing_behind(layout: Layout, *, partial: bool) -> None:
    cluster, lives = restarting(layout)
    settings = DetectionSettings.model_validate({"gone_after": "2m"}) if partial else DetectionSettings()
    if partial:
        # From before each restart until the communicator before it is over.
        for number in range(1, LIVES):
            middle = number * LIFE_TICKS * TICK_SECONDS
            cluster.add(PartialAnswer(begin=middle - TICK_SECONDS, end=middle + 7 * TICK_SECONDS, missing_ratio=0.0))
    sizes = watched(Detector(settings), lives, lambda snapshot: snapshot)
    assert_flat(sizes[6], sizes[-2])


def test_communicators_that_nobody_knows_leave_nothing_behind() -> None:
    _, lives = restarting(two_level(16))
    sizes = watched(Detector(DetectionSettings()), lives, without_the_largest)
    assert_flat(sizes[6], sizes[-2])


def test_jobs_that_never_come_back_are_forgotten_after_a_day() -> None:
    lives_per_day = 18
    _, lives = restarting(two_level(8), lives=4 * lives_per_day, ticks=8, tick_seconds=600.0)
    jobs = ([of_job(each, f"job{number}") for each in snapshots] for number, snapshots in enumerate(lives))
    sizes = watched(Detector(DetectionSettings()), jobs, lambda snapshot: snapshot)
    assert_flat(sizes[2 * lives_per_day], sizes[-2])


def test_faults_of_jobs_that_are_over_leave_nothing_behind() -> None:
    """Each job hangs, and goes on. The next one starts a day later; hardware is remembered for thirty."""
    settings = SETTINGS.model_copy(
        update={"jobs": DetectionSettings.model_validate({"jobs": [{"job_id": "other-*"}]}).jobs}
    )
    job, detector, sizes = Job(), Detector(settings), []
    for number in range(80):
        job.job_id = f"job{number}"
        job.restart(f"{number:016x}")
        steps(detector, job.ticks(6))
        job.stuck = 2
        hung = steps(detector, job.ticks(8))
        assert hung[-1].findings[0].culprit.ranks == (2,)
        job.release()
        assert not steps(detector, job.ticks(4))[-1].findings
        sizes.append(kept(detector))
        job.time += 86_400.0
    assert_flat(sizes[36], sizes[-1])


def test_who_has_the_rows_of_others_is_judged_as_the_first_would_be() -> None:
    lives, ticks = 6, 40
    cluster, snapshots_by_life = restarting(two_level(16), lives=lives, ticks=ticks)
    begin = ((lives - 1) * ticks + 20) * TICK_SECONDS
    # An alarm stands at the end of each life.
    for number in range(lives):
        last = (number + 1) * ticks * TICK_SECONDS
        cluster.add(LateRank(rank=3, cost_ratio=0.2, begin=last - 8 * TICK_SECONDS, end=last))
    cluster.add(LateRank(rank=5, cost_ratio=0.1, begin=begin))
    old, new = Detector(DetectionSettings()), Detector(DetectionSettings())
    for number, snapshots in enumerate(snapshots_by_life):
        # Jobs of their own: what is known of a role is for its job.
        mine = [of_job(each, f"job{number}") for each in snapshots]
        assessments = [old.step(each) for each in mine]
    fresh = [new.step(each) for each in mine]
    assert {finding.culprit.ranks for finding in fresh[-1].findings} >= {(5,)}
    # From the first tick on that a detector that was there before can judge.
    assert [said(each, "job5") for each in assessments[1:]] == [said(each, "job5") for each in fresh[1:]]


def said(assessment: Assessment, job: str) -> Assessment:
    """About one job; but for earlier runs on the same hardware, which it is right to know of."""
    findings = []
    for finding in assessment.findings:
        evidence = {name: value for name, value in finding.evidence.items() if name not in ("follows", "earlier")}
        findings.append(replace(finding, evidence=evidence))
    held = frozenset(key for key in assessment.held if key[1] == job)
    return replace(assessment, findings=tuple(findings), held=held)


def test_a_fault_is_found_as_fast_in_the_last_life_as_in_the_first() -> None:
    """Its job was away for an hour: longer than its communicators are kept, and not as long as what it is."""
    hour, begin = 3600.0, 1800.0
    cluster = Cluster(two_level(32), (Normal(0.02),), seed=3)
    cluster.add(LateRank(rank=3, cost_ratio=0.1, begin=begin, end=begin + 600))
    cluster.add(Restart(begin=begin + 1200, down_seconds=hour))
    again = begin + 1200 + hour + 120  # as soon as it is warm
    cluster.add(LateRank(rank=3, cost_ratio=0.1, begin=again, end=again + 600))
    job = Watched(cluster)
    job.until(again + 1200)
    first, second = (each for each in job.opened if each.culprit.verdict is Verdict.LATE_RANK)
    assert first.culprit.ranks == second.culprit.ranks == (3,)
    assert job.delay_ticks(second, again) <= job.delay_ticks(first, begin)
