"""Missing ranks in simulated jobs of many communicators."""

import pytest
from simulator.cluster import Cluster
from simulator.faults import Event, ExporterGone, JobGone, LateRank, RankGone, Stall
from simulator.layout import Layout
from simulator.presets import fsdp, pipeline, two_level
from simulator.regimes import Checkpoint, Restart, ScrapesLost

from sentinel.config.detection_rank_missing import RankMissingSettings
from sentinel.detect.rank_missing import MissingReading, RankMissingTest
from sentinel.measure.membership import MembershipReader
from sentinel.measure.window import Differencer

BEGIN = 300.0
LAYOUTS = {"fsdp": fsdp(32), "two_level": two_level(32), "pipeline": pipeline(4, 8)}


def readings(layout: Layout, *events: Event, ticks: int = 40, tick_seconds: float = 30.0) -> list[MissingReading]:
    cluster = Cluster(layout, tick_seconds=tick_seconds, scrape_moments=3).add(*events)
    test, members, differencer = RankMissingTest(RankMissingSettings()), MembershipReader(), Differencer()
    found = [MissingReading()]
    for snapshot in cluster.snapshots(ticks):
        membership, window = members.read(snapshot), differencer.step(snapshot)
        if window is not None:
            found.append(test.step(window, snapshot, membership))
    return found


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("tick_seconds", [10.0, 30.0])
def test_a_process_that_dies_is_named_once(layout: Layout, tick_seconds: float) -> None:
    found = readings(layout, RankGone(rank=13, begin=BEGIN + 1), ticks=60, tick_seconds=tick_seconds)
    named = {finding.culprit for reading in found for finding in reading.findings}
    assert {culprit.ranks for culprit in named} == {(13,)}
    assert len(named) == 1
    first = next(place for place, each in enumerate(found) if each.findings)
    assert (first + 1) * tick_seconds <= BEGIN + 4 * max(tick_seconds, 20.0)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(
    "event",
    [
        ExporterGone(node=1, begin=BEGIN),
        JobGone(begin=BEGIN),
        Restart(begin=BEGIN, down_seconds=20.0),
        Restart(begin=BEGIN, down_seconds=300.0),
        ScrapesLost(ratio=0.5, begin=BEGIN),
        Checkpoint(begin=BEGIN, end=BEGIN + 600),
        Stall(rank=3, begin=BEGIN),
        LateRank(rank=3, cost_ratio=0.3, begin=BEGIN),
    ],
    ids=lambda event: type(event).__name__,
)
def test_nobody_is_missing(layout: Layout, event: Event) -> None:
    assert [each.findings for each in readings(layout, event) if each.findings] == []


def test_a_restart_while_it_is_gone_ends_it() -> None:
    events = (RankGone(rank=13, begin=BEGIN, end=BEGIN + 400), Restart(begin=BEGIN + 300, down_seconds=60.0))
    found = readings(LAYOUTS["two_level"], *events)
    assert any(each.findings for each in found)
    assert [each.findings for each in found[22:]] == [()] * len(found[22:])
