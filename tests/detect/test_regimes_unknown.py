"""What is not known opens nothing and ends nothing."""

import pytest
from cluster.watched import Watched, name_of
from simulator.cluster import Cluster
from simulator.faults import Event, ExporterGone, JobGone, LateRank, RankGone
from simulator.layout import Layout
from simulator.noise import Ar1, Imbalance, Normal
from simulator.presets import fsdp, pipeline, two_level
from simulator.regimes import PartialAnswer, ScrapesLost

NOISE = (Normal(0.02), Ar1(0.01, 0.5), Imbalance(0.005))
LAYOUTS = {"fsdp": fsdp(32), "two-level": two_level(32), "pipeline": pipeline(4, 8)}
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
BEGIN = 1207.0  # 40 ticks, and not at a scrape
LATER = BEGIN + 300
LATE = ("late_rank", (13,))


def watched(layout: Layout, *events: Event, seed: int = 1) -> Watched:
    return Watched(Cluster(layout, NOISE, seed, scrape_moments=3).add(*events))


def late(begin: float = BEGIN, rank: int = 13) -> LateRank:
    return LateRank(rank=rank, cost_ratio=0.1, begin=begin)


@each_layout
@pytest.mark.parametrize("seed", [1, 3])
def test_lost_scrapes_name_nobody_and_hide_nobody(layout: Layout, seed: int) -> None:
    job = watched(layout, ScrapesLost(ratio=0.05), late(rank=5), seed=seed)
    job.until(BEGIN - 7)
    assert job.opened == []
    job.run(30)
    (found,) = job.opened
    assert name_of(found) == ("late_rank", (5,))
    assert job.delay_ticks(found, BEGIN) <= 5
    assert job.ended == []


@each_layout
def test_a_partial_answer_holds_what_is_open(layout: Layout) -> None:
    job = watched(layout, late(), PartialAnswer(begin=LATER, end=LATER + 600, missing_ratio=0.5))
    job.until(LATER + 593)
    assert job.states == {"abstain"}
    assert [name_of(incident) for incident in job.current] == [LATE]
    job.run(15)
    assert [name_of(incident) for incident in job.current] == [LATE]
    assert len(job.opened) == 1
    assert job.ended == []


@each_layout
def test_a_partial_answer_opens_nothing(layout: Layout) -> None:
    partial = PartialAnswer(begin=BEGIN, end=BEGIN + 600, missing_ratio=0.3)
    job = watched(layout, partial, late(LATER))
    job.until(BEGIN + 593)
    assert job.opened == []
    job.run(6)
    assert job.named == {LATE}


@each_layout
def test_an_exporter_that_is_gone_names_nobody(layout: Layout) -> None:
    job = watched(layout, ExporterGone(node=1, begin=BEGIN))
    job.until(BEGIN + 900)
    assert job.opened == []


@each_layout
def test_an_incident_is_held_while_its_exporter_is_gone(layout: Layout) -> None:
    job = watched(layout, late(), ExporterGone(node=1, begin=LATER, end=LATER + 600))
    job.until(LATER + 900)
    assert [name_of(incident) for incident in job.opened] == [LATE]
    assert [name_of(incident) for incident in job.current] == [LATE]
    assert job.ended == []


@each_layout
def test_a_job_that_is_gone_is_no_incident(layout: Layout) -> None:
    job = watched(layout, JobGone(begin=BEGIN))
    job.until(BEGIN + 1200)
    assert job.opened == []


@each_layout
def test_an_incident_ends_when_its_job_is_gone_for_long(layout: Layout) -> None:
    job = watched(layout, late(), JobGone(begin=LATER))
    job.until(LATER + 860)
    assert [name_of(incident) for incident in job.current] == [LATE]
    job.run(6)  # gone_after is over, and clear_ticks
    assert job.current == []
    assert [name_of(incident) for incident in job.ended] == [LATE]
    assert job.named == {LATE}


@each_layout
def test_a_rank_that_is_gone_is_one_incident_without_a_stall(layout: Layout) -> None:
    job = watched(layout, RankGone(rank=13, begin=BEGIN, end=LATER))
    job.until(LATER + 600)
    (found,) = job.opened
    assert name_of(found) == ("rank_missing", (13,))
    assert job.delay_ticks(found, BEGIN) <= 3
    assert len(job.ended) == 1


@pytest.mark.parametrize("seed", [4, 7, 12, 21])
def test_lost_scrapes_accuse_no_victims(seed: int) -> None:
    job = watched(LAYOUTS["two-level"], ScrapesLost(ratio=0.05, begin=1200.0), late(rank=5), seed=seed)
    job.until(1200.0 + 1200)
    assert [name_of(incident) for incident in job.opened] == [("late_rank", (5,))]
