from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from servers.incidents import CULPRIT, incident

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.incident import Tier, Verdict
from sentinel.model.instant import parse_instant
from sentinel.sink.alert import ALERT_NAMES, AlertWriter

PROMETHEUS = PrometheusSettings()
NOW = incident().detected_at + 600.0


def writer(tick_seconds: float = 30.0, prometheus: PrometheusSettings = PROMETHEUS, **settings: object) -> AlertWriter:
    return AlertWriter(AlertmanagerSettings.model_validate(settings), prometheus, tick_seconds)


def test_labels_are_identity() -> None:
    alert = writer(external_labels={"cluster": "a"}).write(incident(), NOW)
    assert alert.labels == {
        "alertname": "NcclRankLate",
        "severity": "warning",
        "tier": "P1",
        "job_id": "4711",
        "comm_name": "dp",
        "node": "node0",
        "gpu": "3",
        "rank": "3",
        "cluster": "a",
    }


def test_what_changes_over_an_incident_is_in_no_label() -> None:
    later = incident(cost_ratio=0.9, victims=1, evidence={}, ended_at=NOW)
    moved = replace(later, culprit=replace(CULPRIT, comm="00000000000000bb"))
    labels = writer().write(incident(), NOW).labels
    assert writer().write(later, NOW + 60).labels == writer().write(moved, NOW + 60).labels == labels


def test_empty_labels_are_left_out_and_ranks_are_joined() -> None:
    culprit = replace(CULPRIT, job_id="", comm_name="", node="", gpu="", ranks=(1, 2, 30))
    labels = writer().write(replace(incident(), culprit=culprit), NOW).labels
    assert labels == {
        "alertname": "NcclRankLate",
        "severity": "warning",
        "tier": "P1",
        "comm": "job",  # tells jobs without an id apart
        "rank": "1,2,30",
    }


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        (Verdict.LATE_RANK, "NcclRankLate"),
        (Verdict.SLOW_LINK, "NcclLinkSlow"),
        (Verdict.SLOW_FABRIC, "NcclFabricSlow"),
        (Verdict.STALLED, "NcclCommunicatorStalled"),
        (Verdict.RANK_MISSING, "NcclRankMissing"),
        (Verdict.DRIFT, "NcclLatencyDrift"),
    ],
)
def test_each_verdict_has_its_alert_name(verdict: Verdict, name: str) -> None:
    alert = writer().write(replace(incident(), culprit=replace(CULPRIT, verdict=verdict)), NOW)
    assert alert.labels["alertname"] == name
    assert alert.annotations["summary"]


def test_no_verdict_is_without_a_name() -> None:
    assert set(ALERT_NAMES) == set(Verdict)


@pytest.mark.parametrize(("tier", "severity"), [(Tier.P0, "critical"), (Tier.P1, "warning"), (Tier.P2, "info")])
def test_the_tier_gives_the_severity(tier: Tier, severity: str) -> None:
    labels = writer().write(incident(tier=tier), NOW).labels
    assert (labels["tier"], labels["severity"]) == (tier.value, severity)


@pytest.mark.parametrize(
    ("tick", "resend", "lifetime"), [(30.0, "1m", 240.0), (300.0, "1m", 1200.0), (2.0, "5s", 20.0)]
)
def test_a_firing_alert_outlives_four_deliveries(tick: float, resend: str, lifetime: float) -> None:
    alert = writer(tick, resend=resend).write(incident(), NOW)
    assert parse_instant(alert.starts_at) == incident().started_at
    assert parse_instant(alert.ends_at) == NOW + lifetime


def test_a_resolved_alert_ends_when_the_incident_did_and_never_later_than_now() -> None:
    ended = incident().started_at + 60
    assert parse_instant(writer().write(incident(ended_at=ended), NOW).ends_at) == ended
    assert parse_instant(writer().write(incident(ended_at=NOW + 5), NOW).ends_at) == NOW
    before = writer().write(
        incident(ended_at=incident().started_at - 5), NOW
    )  # Alertmanager refuses an end before a start
    assert before.ends_at == before.starts_at


def test_annotations_carry_the_numbers() -> None:
    annotations = writer().write(incident(), NOW).annotations
    assert annotations["summary"] == "Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711"
    for part in (
        "9.09% of the job's time",
        "since 2026-11-29T19:36:00.500Z",
        "7 ranks wait",
        "lateness 1 ms",
        "peers duration 2 ms",
        "test CUSUM",
        "sentinel explain 7611f548bd54",
    ):
        assert part in annotations["description"]
    assert "runbook_url" not in annotations
    assert (
        "It ended after 1.5 s"
        in writer().write(incident(ended_at=incident().started_at + 1.5), NOW).annotations["description"]
    )


def test_links_are_filled_in_and_quoted() -> None:
    culprit = replace(CULPRIT, job_id="a/b c&d")
    alert = writer(
        runbook_url="https://wiki.example/{alertname}",
        dashboard_url="https://grafana.example/d/x?job={job_id}&rank={rank}",
    ).write(replace(incident(), culprit=culprit), NOW)
    assert alert.annotations["runbook_url"] == "https://wiki.example/NcclRankLate"
    assert alert.annotations["dashboard_url"] == "https://grafana.example/d/x?job=a%2Fb%20c%26d&rank=3"


def test_the_generator_url_opens_the_communicator_s_graph() -> None:
    prometheus = PrometheusSettings(external_url="https://prometheus.example/p", selector='cluster="a"')
    url = urlsplit(writer(prometheus=prometheus).write(incident(), NOW).generator_url)
    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://prometheus.example/p/graph"
    (query,) = parse_qs(url.query)["g0.expr"]
    assert 'nccl_collective_seconds_total{comm="00000000000000aa",cluster="a"}' in query
    stalled = replace(incident(), culprit=replace(CULPRIT, verdict=Verdict.STALLED))
    (query,) = parse_qs(urlsplit(writer().write(stalled, NOW).generator_url).query)["g0.expr"]
    assert query == 'sum by (rank) (rate(nccl_collective_started_total{comm="00000000000000aa"}[1m]))'


def test_many_ranks_stay_readable() -> None:
    summary = writer().write(incident(ranks=tuple(range(100))), NOW).annotations["summary"]
    assert summary.startswith("Ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more")
    nobody = replace(incident(), culprit=replace(CULPRIT, ranks=(), node="", gpu="", verdict=Verdict.STALLED))
    assert writer().write(nobody, NOW).annotations["summary"] == "Communicator dp has stalled in job 4711"


def test_the_description_says_what_shows_it() -> None:
    cell = {
        "op": "AllGather",
        "size_bytes": "262144",
        "duration_seconds": 0.00085,
        "peers_duration_seconds": 0.00213,
        "lateness_seconds": 0.00132,
        "baseline_lateness_seconds": 0.000045,
    }
    late = writer().write(replace(incident(), evidence={"cells": [cell]}), NOW).annotations["description"]
    assert (
        "Its AllGather of 256 KiB takes 850 us and its peers' 2.13 ms: it arrives 1.32 ms after them, normally 45 us."
        in late
    )
    culprit = replace(CULPRIT, verdict=Verdict.STALLED)
    evidence = {"reason": "nothing in flight while the others wait", "stalled_seconds": 12.0, "ranks_without_data": 1}
    stalled = writer().write(replace(incident(), culprit=culprit, evidence=evidence), NOW).annotations["description"]
    assert "Nothing in flight while the others wait, for 12 s. About 1 of the ranks nothing is known." in stalled


@pytest.mark.parametrize(
    ("follows", "said"),
    [("gpu", "It follows the GPU: "), ("rank", "It follows the rank: "), (None, "It is not the first time: ")],
)
def test_the_description_says_what_the_fault_follows(follows: str | None, said: str) -> None:
    earlier = {"job_id": "4700", "rank": 9, "node": "node4", "gpu": "1", "started_at": "2026-11-20T08:00:00.000Z"}
    description = (
        writer().write(incident(evidence={"follows": follows, "earlier": earlier}), NOW).annotations["description"]
    )
    assert f"{said}rank 9, on node4 GPU 1, was named in job 4700 at 2026-11-20T08:00:00.000Z." in description
    nothing = writer().write(incident(evidence={"follows": None}), NOW).annotations["description"]
    assert "first time" not in nothing
