from dataclasses import replace
from typing import Any

import pytest
from page.scenes import COMM, NOW, facts, moment
from servers.incidents import INCIDENT, incident

from sentinel.history.moment import CommunicatorMoment
from sentinel.model.incident import Tier
from sentinel.model.snapshot import DataQuality
from sentinel.page.overview import status_document


def job(*incidents: Any, fault: str = "", **more: Any) -> dict[str, Any]:
    (found,) = status_document(facts(fault), moment(*incidents, **more), NOW)["jobs"]
    return found


@pytest.mark.parametrize(
    ("state", "health"),
    [
        ("watching", "healthy"), ("learning", "learning"), ("warming", "learning"), ("paused", "idle"),
        ("abstain", "unknown"), ("gone", "unknown"),
    ],
)  # fmt: skip
def test_health_without_incidents(state: str, health: str) -> None:
    assert job(state=state)["health"] == health


@pytest.mark.parametrize(("tier", "health"), [(Tier.P0, "critical"), (Tier.P1, "warning"), (Tier.P2, "notice")])
def test_health_is_that_of_the_loudest_incident(tier: Tier, health: str) -> None:
    assert job(incident(tier=tier), incident("other", ranks=(1,), tier=Tier.P2))["health"] == health


def test_nothing_is_healthy_that_nobody_looks_at() -> None:
    assert job(fault="no tick has ended well for 90 s")["health"] == "unknown"
    assert job(judged=False)["health"] == "unknown"


def test_cost_is_that_of_what_goes_on() -> None:
    found = job(INCIDENT, incident("old", ranks=(1,), ended_at=NOW, cost_ratio=0.9))
    assert found["cost_ratio"] == INCIDENT.cost_ratio
    assert [each["id"] for each in found["incidents"]] == [INCIDENT.id]


def test_a_job_that_is_gone_shows_its_incident() -> None:
    document = status_document(facts(), moment(INCIDENT, communicators=()), NOW)
    assert [(each["job_id"], each["health"], each["communicators"]) for each in document["jobs"]] == [
        ("4711", "warning", [])
    ]


def test_data_and_learning() -> None:
    found = job(ranks=3)
    assert (found["ranks_seen_ratio"], found["states"]) == (0.75, {"watching": 1})
    quality = DataQuality(("a store is away",), 7)
    document = status_document(facts(), moment(quality=quality), NOW)
    assert document["quality"] == {
        "judged": True, "partial": True, "warnings": ["a store is away"], "malformed_series": 7
    }  # fmt: skip


def test_jobs_are_told_apart_also_without_an_id() -> None:
    one = CommunicatorMoment(COMM, "", "aa", "", 4, 4, "watching")
    two = replace(one, comm="bb", job="bb")
    three = replace(one, comm="cc", ranks=2)
    document = status_document(facts(), moment(communicators=(one, two, three)), NOW)
    assert [(each["job"], [comm["comm"] for comm in each["communicators"]]) for each in document["jobs"]] == [
        ("aa", [COMM, "cc"]),
        ("bb", ["bb"]),
    ]


def test_before_the_first_tick_there_is_nothing() -> None:
    document = status_document(facts("not ready"), None, NOW)
    assert (document["jobs"], document["daemon"]["fault"]) == ([], "not ready")


def test_a_fleet_is_cut_to_what_a_browser_bears() -> None:
    fleet = tuple(
        CommunicatorMoment(f"{job:08x}{number:08x}", "", str(job), str(job), 4, 4 + number % 3, "watching")
        for job in range(600)
        for number in range(30)
    )
    document = status_document(facts(), moment(communicators=fleet), NOW)
    assert (len(document["jobs"]), document["jobs_left_out"]) == (500, 100)
    assert {len(each["communicators"]) for each in document["jobs"]} == {4}
    assert {comm["ranks"] for each in document["jobs"] for comm in each["communicators"]} == {6}
    assert {each["communicators_count"] for each in document["jobs"]} == {30}
