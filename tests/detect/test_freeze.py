"""Communicators that nothing is learnt from are judged as ever."""

import numpy as np
from cluster.job import Job

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Verdict
from sentinel.model.snapshot import Snapshot


def codes(snapshot: Snapshot) -> frozenset[int]:
    return frozenset(np.unique(snapshot.communicators.comm).tolist())


def test_what_is_frozen_stays_unknown() -> None:
    snapshots = list(Job(tick_seconds=30.0).ticks(40))
    thawed, frozen = Detector(DetectionSettings()), Detector(DetectionSettings())
    for snapshot in snapshots[:30]:
        learnt = thawed.step(snapshot)
        kept = frozen.step(snapshot, codes(snapshot))
    assert set(learnt.states.values()) == {"watching"}
    assert set(kept.states.values()) == {"learning"}
    for snapshot in snapshots[30:]:
        kept = frozen.step(snapshot)
    assert set(kept.states.values()) == {"watching"}  # it learns from then on


def test_a_fault_is_found_where_nothing_is_learnt() -> None:
    job = Job(tick_seconds=30.0, step_seconds=0.1)
    detector = Detector(DetectionSettings())
    for snapshot in job.ticks(40):
        detector.step(snapshot)
    job.delay_seconds[3] = 0.02
    found = [finding for each in job.ticks(10) for finding in detector.step(each, codes(each)).findings]
    assert {(each.culprit.verdict, each.culprit.ranks) for each in found} == {(Verdict.LATE_RANK, (3,))}


def test_a_habit_of_frozen_time_is_not_taken_for_normal() -> None:
    """Three ranks: too few for the peers alone to show that something is wrong."""
    found = {}
    for frozen in (False, True):
        job = Job(nranks=3, tick_seconds=30.0, step_seconds=0.1)
        detector = Detector(DetectionSettings())
        job.delay_seconds[2] = 0.02
        for snapshot in job.ticks(40):
            detector.step(snapshot, codes(snapshot) if frozen else frozenset())
        job.delay_seconds[2] = 0.0
        for snapshot in job.ticks(20):
            detector.step(snapshot)
        job.delay_seconds[2] = 0.02
        found[frozen] = [finding.culprit.ranks for each in job.ticks(10) for finding in detector.step(each).findings]
    assert found[False] == []
    assert set(found[True]) == {(2,)}
