"""Whom the whole detector names in jobs to which more than one thing happens."""

import pytest
from cluster.watched import Watched, name_of
from simulator.cluster import Cluster
from simulator.faults import Event, LateAtEachCollective, LateRank, SlowLink, Stall
from simulator.layout import Layout
from simulator.noise import Ar1, Imbalance, Noise, Normal
from simulator.presets import fsdp, pipeline, two_level
from simulator.regimes import Restart

from sentinel.model.incident import Tier

IID = (Normal(0.02), Imbalance(0.005))
NOISE = (Normal(0.02), Ar1(0.01, 0.5), Imbalance(0.005))
LAYOUTS = {"fsdp": fsdp(32), "two-level": two_level(32), "pipeline": pipeline(4, 8)}
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
BEGIN = 1207.0  # 40 ticks, and not at a scrape
LATE = ("late_rank", (13,))


def watched(layout: Layout, *events: Event, noise: tuple[Noise, ...] = NOISE) -> Watched:
    return Watched(Cluster(layout, noise, scrape_moments=3).add(*events))


@each_layout
@pytest.mark.parametrize(("follows_hardware", "rank", "follows"), [(True, 5, "gpu"), (False, 13, "rank")])
def test_a_restart_on_other_machines_tells_what_a_fault_follows(
    layout: Layout, follows_hardware: bool, rank: int, follows: str
) -> None:
    fault = LateRank(rank=13, cost_ratio=0.1, begin=BEGIN, follows_hardware=follows_hardware)
    restart = Restart(begin=BEGIN + 600, down_seconds=100, machines=(1, 0, 2, 3))
    job = watched(layout, fault, restart)
    job.until(BEGIN + 1800)
    before, after = job.opened
    assert name_of(before) == LATE
    assert name_of(after) == ("late_rank", (rank,))
    assert before.evidence["follows"] is None
    assert after.evidence["follows"] == follows
    assert after.evidence["earlier"]["rank"] == 13


@each_layout
@pytest.mark.parametrize("cost_ratio", [0.2, 0.4])
def test_members_of_a_slow_communicator_are_not_accused_in_their_next(layout: Layout, cost_ratio: float) -> None:
    job = watched(layout, SlowLink(rank=13, cost_ratio=cost_ratio, begin=BEGIN))
    job.until(BEGIN + 1200)
    assert {incident.culprit.ranks for incident in job.opened} == {(13,)}
    assert job.delay_ticks(job.opened[0], BEGIN) <= 4
    assert ("slow_link", (13,)) in job.named


@each_layout
def test_a_rank_with_a_slow_link_is_one_incident(layout: Layout) -> None:
    job = watched(layout, SlowLink(rank=13, cost_ratio=0.2, begin=BEGIN))
    job.until(BEGIN + 1200)
    assert [name_of(incident) for incident in job.opened] == [("slow_link", (13,))]


@pytest.mark.parametrize("rank", [13, 21])
def test_a_rank_stuck_in_a_middle_stage_is_named(rank: int) -> None:
    job = watched(LAYOUTS["pipeline"], Stall(rank=rank, begin=BEGIN, end=BEGIN + 300))
    job.until(BEGIN + 900)
    (found,) = job.opened
    assert (name_of(found), found.tier) == (("stalled", (rank,)), Tier.P0)
    assert job.delay_ticks(found, BEGIN) <= 3
    assert len(job.ended) == 1


@each_layout
def test_a_second_incident_is_found_as_fast_as_the_first(layout: Layout) -> None:
    begins = (BEGIN, BEGIN + 600 + 3600)
    job = watched(layout, *(LateRank(rank=13, cost_ratio=0.1, begin=begin, end=begin + 600) for begin in begins))
    job.until(begins[1] + 1800)
    assert [name_of(incident) for incident in job.opened] == [LATE, LATE]
    first, second = (job.delay_ticks(found, begin) for found, begin in zip(job.opened, begins, strict=True))
    assert second <= first
    assert len(job.ended) == 2


@each_layout
def test_what_was_wrong_before_the_daemon_began_shows_against_the_peers(layout: Layout) -> None:
    job = watched(layout, LateAtEachCollective(rank=13, cost_ratio=0.1))
    job.run(60)
    (found,) = job.opened
    assert name_of(found) == LATE
    assert job.delay_ticks(found, 0.0) <= 10
    assert [name_of(incident) for incident in job.current] == [LATE]


def test_a_lateness_that_grows_is_told_while_it_is_small() -> None:
    hour = 3600.0
    grows = LateRank(rank=13, cost_ratio=0.05, begin=2 * hour, ramp_seconds=6 * hour)
    job = watched(fsdp(16), grows, noise=IID)
    job.until(8 * hour)
    assert [name_of(incident) for incident in job.opened] == [("drift", (13,)), LATE]
    assert {incident.tier for incident in job.opened} == {Tier.P2}
    at_cost_ratio = [0.05 * (job.delay_ticks(one, grows.begin) * 30.0) / grows.ramp_seconds for one in job.opened]
    assert at_cost_ratio[0] < 0.02
    assert at_cost_ratio[1] < 0.03
