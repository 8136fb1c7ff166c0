"""What is said after a fault is over, and what broken counters leave behind."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.faults import LateRank, SlowLink, Stall
from simulator.layout import Layout
from simulator.noise import Ar1, Normal
from simulator.presets import fsdp, pipeline, two_level

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.detect.sequential import Cusum
from sentinel.incident.tracker import IncidentTracker
from sentinel.measure.row_space import RowSpace
from sentinel.model.incident import Incident
from sentinel.model.snapshot import Snapshot

NOISE = (Normal(0.02), Ar1(0.003, 0.5))


def watch(snapshots: Iterator[Snapshot]) -> tuple[list[Incident], list[Incident]]:
    """Incidents that were opened, and those that go on at the end."""
    detector, tracker = Detector(DetectionSettings()), IncidentTracker(DetectionSettings())
    opened: list[Incident] = []
    ongoing: tuple[Incident, ...] = ()
    for snapshot in snapshots:
        changes = tracker.step(detector.step(snapshot))
        opened += changes.opened
        ongoing = (*changes.opened, *changes.ongoing)
    return opened, list(ongoing)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_link_that_was_slow_from_the_start_and_heals_leaves_nobody_late(seed: int) -> None:
    """What its victims did meanwhile is not learnt as normal."""
    cluster = Cluster(two_level(32), NOISE, seed=seed).add(SlowLink(rank=9, cost_ratio=0.5, end=600.0))
    opened, ongoing = watch(cluster.snapshots(150))
    assert [(incident.culprit.verdict.value, incident.culprit.ranks) for incident in opened] == [("slow_link", (9,))]
    assert ongoing == []


@pytest.mark.parametrize("layout", [pipeline(4, 8), two_level(32)], ids=["pipeline", "two-level"])
def test_a_link_alarm_may_end_before_any_link_has_a_history(layout: Layout) -> None:
    cluster = Cluster(layout, NOISE, seed=3).add(SlowLink(rank=9, cost_ratio=1.0, end=600.0))
    opened, ongoing = watch(cluster.snapshots(60))
    assert {incident.culprit.ranks for incident in opened} == {(9,)}
    assert ongoing == []


@pytest.mark.parametrize("cost_ratio", [0.05, 0.1])
def test_a_late_node_ends_as_one_incident(cost_ratio: float) -> None:
    """Its ranks' alarms do not end at once."""
    faults = (LateRank(rank=rank, cost_ratio=cost_ratio, begin=3000.0, end=4500.0) for rank in range(8, 16))
    opened, ongoing = watch(Cluster(fsdp(32), NOISE, seed=5).add(*faults).snapshots(200))
    late = [incident.culprit.ranks for incident in opened if incident.detected_at > 1_700_000_000 + 4500.0]
    assert tuple(range(8, 16)) in {incident.culprit.ranks for incident in opened}
    assert (late, ongoing) == ([], [])


@pytest.mark.parametrize("seed", range(3))
def test_the_end_of_a_stall_is_no_other_stall(seed: int) -> None:
    """Some nodes were scraped before it ended, and show what it has left."""
    cluster = Cluster(pipeline(4, 8), NOISE, seed=seed, scrape_moments=3)
    cluster.add(Stall(rank=0, begin=3000.0 + 7 * seed, end=3110.0 + 7 * seed))
    opened, ongoing = watch(cluster.snapshots(130))
    assert [(incident.culprit.verdict.value, incident.culprit.ranks) for incident in opened] == [("stalled", (0,))]
    assert ongoing == []


def test_absurd_counters_blind_nobody_for_good() -> None:
    cluster = Cluster(fsdp(16), NOISE, seed=2).add(LateRank(rank=5, cost_ratio=0.1, begin=3600.0))
    random = np.random.default_rng(1)

    def broken() -> Iterator[Snapshot]:
        for tick, snapshot in enumerate(cluster.snapshots(150)):
            if not 60 <= tick < 65:
                yield snapshot
                continue
            hit = random.random(len(snapshot.cells.rank)) < 0.1
            values = {
                name: np.where(hit, 1.7e308, getattr(snapshot.cells, name))
                for name in ("operations", "seconds", "log_microseconds")
            }
            yield replace(snapshot, cells=replace(snapshot.cells, **values))

    opened, _ = watch(broken())
    assert [incident.culprit.ranks for incident in opened] == [(5,)]
    assert np.isfinite(opened[0].cost_ratio)


def test_a_sum_survives_what_is_no_number() -> None:
    space = RowSpace()
    cusum, rows = Cusum(1.0, space), space.take(1)
    cusum.reset(rows)  # it has no sum yet
    for value in (3.0, np.nan, 3.0):
        reading = cusum.step(rows, np.array([value]), 0.0, 5.0, 20.0)
    assert reading.sum.tolist() == [3.0]


@pytest.mark.parametrize("seed", range(4))
def test_who_was_late_with_a_rank_is_not_accused_after_it(seed: int) -> None:
    """Slow wanders keep alarms of its victims up for a while."""
    cluster = Cluster(two_level(64), (Normal(0.02), Ar1(0.01, 0.9)), seed)
    cluster.add(LateRank(rank=7, cost_ratio=0.05, begin=6000.0, end=6300.0))
    opened, ongoing = watch(cluster.snapshots(240))
    assert {incident.culprit.ranks for incident in opened} == {(7,)}
    assert ongoing == []


@pytest.mark.parametrize("seed", range(4))
def test_a_slow_wander_hides_no_step_beyond_it(seed: int) -> None:
    """It is compared with where it stood before, not with all that it may ever reach."""
    began = 1_700_000_000 + 6000.0
    cluster = Cluster(fsdp(64), (Normal(0.02), Ar1(0.01, 0.9)), seed)
    opened, _ = watch(cluster.add(LateRank(rank=7, cost_ratio=0.05, begin=6000.0)).snapshots(206))
    assert [incident.culprit.ranks for incident in opened] == [(7,)]
    assert opened[0].detected_at <= began + 4 * 30.0
