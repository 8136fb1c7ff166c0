"""What the detectors say about real recorded jobs: each trace's right answer, and nobody else named."""

import itertools
from collections.abc import Iterable

import pytest
from cluster.recording import TRACES, Bursts, RecordedJob, Segment

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident, Verdict
from sentinel.model.snapshot import Snapshot

SETTINGS = DetectionSettings.model_validate({"baseline": {"warm_up": "4s"}, "stalled": {"stall_after": "10s"}})
LEARN_SECONDS, WATCH_SECONDS = 24.0, 20.0
LATE, STALLED = Verdict.LATE_RANK, Verdict.STALLED

CASES = [
    # trace, operations a step (and before the first), steps learnt from, steps watched, what has to be found
    pytest.param("late1ms", 4, 0, (10, 100), (101, 199), {(LATE, (3,))}, id="late1ms"),
    pytest.param("p2p_late6", 6, 0, (8, 50), (51, 99), {(LATE, (6,))}, id="p2p_late6"),
    pytest.param("graph_late1", 3, 5, (10, 100), (101, 198), {(LATE, (1,))}, id="graph_late1"),
    pytest.param("stall2", 4, 0, (8, 29), (29, 59), {(STALLED, (2,))}, id="stall2"),
    pytest.param("healthy", 4, 0, (10, 100), (100, 199), set(), id="healthy"),
    pytest.param("healthy_long", 4, 0, (10, 1250), (1250, 2499), set(), id="healthy_long"),
    pytest.param("pipe_healthy", 3, 0, (8, 80), (80, 158), set(), id="pipe_healthy"),
    pytest.param("mixchange", 4, 0, (8, 50), (50, 99), set(), id="mixchange"),
    pytest.param("sweep2", 1, 0, (5, 90), (90, 276), set(), id="sweep2"),
]


@pytest.mark.parametrize("sampled", [None, Bursts()], ids=["whole", "sampled"])
@pytest.mark.parametrize(("trace", "ops_per_step", "skip", "learn", "watch", "expected"), CASES)
def test_recorded_job(
    trace: str,
    ops_per_step: int,
    skip: int,
    learn: tuple[int, int],
    watch: tuple[int, int],
    expected: set[tuple[Verdict, tuple[int, ...]]],
    sampled: Bursts | None,
) -> None:
    job = RecordedJob(TRACES / trace, ops_per_step, skip, sampled)
    segments = [Segment(*learn, LEARN_SECONDS), Segment(*watch, WATCH_SECONDS), Segment(*learn, 12.0)]
    snapshots = list(job.snapshots(segments))
    builder = BaselineBuilder(SETTINGS.baseline)
    watched = list(itertools.dropwhile(lambda each: each.time < LEARN_SECONDS, snapshots))
    for snapshot in snapshots[: len(snapshots) - len(watched)]:
        builder.add(snapshot)
    stored = incidents_of(Detector(SETTINGS, builder.build()), watched)
    learnt = incidents_of(Detector(SETTINGS), snapshots)
    for incidents in (stored, learnt):
        # One incident for each fault, begun after the fault did, over once it was over.
        assert len(incidents) == len(expected)
        assert {(each.culprit.verdict, each.culprit.ranks) for each in incidents} == expected
        for incident in incidents:
            assert incident.started_at >= LEARN_SECONDS - 2.0
            assert incident.ended_at is not None


def incidents_of(detector: Detector, snapshots: Iterable[Snapshot]) -> list[Incident]:
    """The newest state of every incident."""
    tracker, incidents = IncidentTracker(SETTINGS), dict[str, Incident]()
    for snapshot in snapshots:
        changes = tracker.step(detector.step(snapshot))
        incidents |= {each.id: each for each in (*changes.opened, *changes.ongoing, *changes.ended)}
    return list(incidents.values())
