"""How loud an incident is, and that it only gets louder."""

from dataclasses import replace

import pytest

from sentinel.config.detection import DetectionSettings
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Assessment, Culprit, Finding, FormerTier, Incident, Tier, Verdict

SETTINGS = DetectionSettings()
CULPRIT = Culprit(Verdict.LATE_RANK, "job", "job", "aa", "", (3,), "node1", "0")
FINDING = Finding(CULPRIT, 0.02, 100.0, 7, {})


def finding(cost_ratio: float, verdict: Verdict = Verdict.LATE_RANK, started_at: float = 100.0) -> Finding:
    return Finding(replace(CULPRIT, verdict=verdict), cost_ratio, started_at, 7, {})


def assessment(time: float, *findings: Finding) -> Assessment:
    return Assessment(time, findings, frozenset(), {"aa": "watching"})


def opened(settings: DetectionSettings, one: Finding, time: float = 110.0) -> Incident:
    return IncidentTracker(settings).step(assessment(time, one)).opened[0]


@pytest.mark.parametrize(
    ("verdict", "cost_ratio", "tier"),
    [
        (Verdict.STALLED, 1.0, Tier.P0),
        (Verdict.RANK_MISSING, 0.0, Tier.P0),
        (Verdict.LATE_RANK, 0.05, Tier.P1),
        (Verdict.LATE_RANK, 0.049, Tier.P2),
        (Verdict.SLOW_LINK, 0.05, Tier.P1),
        (Verdict.SLOW_LINK, 0.01, Tier.P2),
        (Verdict.SLOW_FABRIC, 0.9, Tier.P2),  # new
        (Verdict.DRIFT, 0.9, Tier.P2),
        (Verdict.IMBALANCE, 0.9, Tier.P2),
    ],
)
def test_what_each_verdict_opens_with(verdict: Verdict, cost_ratio: float, tier: Tier) -> None:
    settings = DetectionSettings.model_validate({"imbalance": {"enabled": True}})
    assert opened(settings, finding(cost_ratio, verdict)).tier is tier


def test_a_slow_fabric_is_p1_once_it_has_been_large_for_long() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, finding(0.2, Verdict.SLOW_FABRIC)))
    changes = [
        tracker.step(assessment(float(time), finding(0.2, Verdict.SLOW_FABRIC))) for time in range(120, 1100, 10)
    ]
    (one,) = (one for each in changes for one in each.raised)
    assert one.former_tiers == (FormerTier(Tier.P2, 700.0),)  # large since 100, for ten minutes


def test_a_fabric_that_is_small_in_between_is_large_anew() -> None:
    tracker = IncidentTracker(SETTINGS)
    for time in range(110, 1300, 10):
        size = 0.05 if time % 300 == 0 else 0.2
        assert tracker.step(assessment(float(time), finding(size, Verdict.SLOW_FABRIC))).raised == ()


def test_a_tier_rises_once_and_never_falls() -> None:
    tracker = IncidentTracker(SETTINGS)
    first = tracker.step(assessment(110.0, finding(0.02))).opened[0]
    assert first.tier is Tier.P2
    changes = [
        tracker.step(assessment(time, finding(cost_ratio)))
        for time, cost_ratio in ((112.0, 0.04), (114.0, 0.06), (116.0, 0.07), (118.0, 0.01), (120.0, 0.09))
    ]
    assert [len(each.raised) for each in changes] == [0, 1, 0, 0, 0]
    assert changes[1].raised == changes[1].ongoing
    last = changes[-1].ongoing[0]
    assert (last.tier, last.former_tiers) == (Tier.P1, (FormerTier(Tier.P2, 114.0),))
    assert (last.id, last.started_at) == (first.id, first.started_at)


def test_a_rise_may_need_time() -> None:
    settings = DetectionSettings.model_validate({"tiers": {"p1_after": "1m"}})
    assert opened(settings, finding(0.2), time=159.0).tier is Tier.P2
    assert opened(settings, finding(0.2), time=160.0).tier is Tier.P1


def test_tiers_come_from_the_configuration_and_from_the_job_s_own() -> None:
    jobs = [{"job_id": "jo*", "tiers": {"p1_cost_ratio": 0.5, "stalled": "P1"}}]
    settings = DetectionSettings.model_validate({"tiers": {"drift": "P1"}, "jobs": jobs})
    assert opened(settings, finding(0.4)).tier is Tier.P2
    assert opened(settings, finding(1.0, Verdict.STALLED)).tier is Tier.P1
    assert opened(settings, finding(0.1, Verdict.DRIFT)).tier is Tier.P1
    other = replace(finding(0.4), culprit=replace(CULPRIT, job_id="other"))
    assert opened(settings, other).tier is Tier.P1


def test_a_p0_is_not_lowered_by_a_rule_that_makes_p1() -> None:
    settings = DetectionSettings.model_validate({"tiers": {"late_rank": "P0"}})
    assert opened(settings, finding(0.2)).tier is Tier.P0


def test_a_job_may_ask_for_more_before_it_is_told() -> None:
    jobs = [{"job_id": "job", "late_rank": {"min_cost_ratio": 0.03, "clear_ticks": 1}}]
    tracker = IncidentTracker(DetectionSettings.model_validate({"jobs": jobs}))
    assert tracker.step(assessment(110.0, finding(0.02))).opened == ()
    assert len(tracker.step(assessment(112.0, finding(0.03))).opened) == 1
    # Evidence that is smaller keeps up what is open.
    assert len(tracker.step(assessment(114.0, finding(0.02))).ongoing) == 1
    assert len(tracker.step(assessment(116.0)).ended) == 1


def test_a_job_may_want_none_of_a_verdict() -> None:
    settings = DetectionSettings.model_validate({"jobs": [{"job_id": "job", "late_rank": {"enabled": False}}]})
    tracker = IncidentTracker(settings)
    assert tracker.step(assessment(110.0, finding(0.5))).opened == ()
    assert len(tracker.step(assessment(112.0, finding(1.0, Verdict.STALLED))).opened) == 1
