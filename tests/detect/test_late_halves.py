"""One of two nodes is late: half of the communicator, so that nobody stands out among all of it."""

import pytest
from simulator.cluster import Cluster
from simulator.faults import LateAtEachCollective, LateRank
from simulator.noise import Ar1, Noise, Normal
from simulator.presets import fsdp

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker


@pytest.mark.parametrize("kind", [LateRank, LateAtEachCollective])
@pytest.mark.parametrize("noise", [(Normal(0.02),), (Normal(0.02), Ar1(0.01, 0.9))], ids=["iid", "AR(1)"])
def test_the_node_is_named_and_the_other_is_not_after_it(
    kind: type[LateRank | LateAtEachCollective], noise: tuple[Noise, ...]
) -> None:
    cluster = Cluster(fsdp(16), noise, seed=4)
    cluster.add(*(kind(rank=rank, cost_ratio=0.1, begin=6000.0, end=7200.0) for rank in range(8, 16)))
    detector, tracker = Detector(DetectionSettings()), IncidentTracker(DetectionSettings())
    opened = [one for snapshot in cluster.snapshots(280) for one in tracker.step(detector.step(snapshot)).opened]
    assert [(one.culprit.node, one.culprit.ranks) for one in opened] == [("node00001", tuple(range(8, 16)))]
    assert opened[0].detected_at <= 1_700_000_000 + 6000.0 + 4 * 30.0
