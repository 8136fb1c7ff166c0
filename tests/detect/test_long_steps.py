"""Jobs with few operations a tick: steps of many seconds, one collective of a kind in each."""

import pytest
from simulator.cluster import Cluster
from simulator.faults import LateAtEachCollective
from simulator.noise import Normal
from simulator.presets import fsdp

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker


@pytest.mark.parametrize("step_seconds", [15.0, 25.0])
def test_two_or_fewer_operations_a_tick_are_enough(step_seconds: float) -> None:
    cluster = Cluster(fsdp(16, layers=1, step_seconds=step_seconds), (Normal(0.02),), seed=2)
    cluster.add(LateAtEachCollective(rank=3, cost_ratio=0.2, begin=6000.0))
    detector, tracker = Detector(DetectionSettings()), IncidentTracker(DetectionSettings())
    opened = [one for snapshot in cluster.snapshots(210) for one in tracker.step(detector.step(snapshot)).opened]
    assert [(one.culprit.verdict.value, one.culprit.ranks) for one in opened] == [("late_rank", (3,))]
