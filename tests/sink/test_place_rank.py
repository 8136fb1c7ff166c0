"""Alerts about a process whose rank nobody tells: node and GPU name it, and no number in the place of its rank."""

from dataclasses import replace
from urllib.parse import parse_qs, urlparse

import pytest
from servers.incidents import incident

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.document import incident_document
from sentinel.model.incident import Incident
from sentinel.model.place_rank import place_rank
from sentinel.sink.alert import AlertWriter, summarize


def of_places(*places: tuple[str, str]) -> Incident:
    known = incident()
    ranks = tuple(sorted(place_rank(*place) for place in places))
    node, gpu = (",".join(dict.fromkeys(texts)) for texts in zip(*places, strict=True))
    culprit = replace(known.culprit, ranks=ranks, node=node, gpu=gpu, job_id="4711", comm_name="dp")
    return replace(known, culprit=culprit, evidence={"cost_is_of": "the time inside its communicator's collectives"})


def test_the_place_is_named_and_no_rank() -> None:
    one = of_places(("host1", "1"))
    writer = AlertWriter(
        AlertmanagerSettings(runbook_url="http://runbooks/{alertname}?rank={rank}&node={node}"),
        PrometheusSettings(dialect="inspector"),
        30.0,
    )
    alert = writer.write(one, one.detected_at)
    assert alert.annotations["summary"] == "The process on host1 GPU 1 arrives late at collectives in job 4711"
    assert (alert.labels["node"], alert.labels["gpu"], alert.labels.get("rank")) == ("host1", "1", None)
    assert alert.annotations["runbook_url"] == "http://runbooks/NcclRankLate?rank=&node=host1"
    assert "of the time inside its communicator's collectives" in alert.annotations["description"]
    (query,) = parse_qs(urlparse(alert.generator_url).query)["g0.expr"]
    assert 'nccl_collective_exec_time_microseconds{slurm_job_id="4711",comm_name="dp"}' in query
    document = incident_document(one)
    assert (document["ranks"], document["node"], document["gpu"]) == ([], "host1", "1")
    assert str(one.culprit.ranks[0]) not in f"{alert.document()} {document}"


def test_two_places_are_processes() -> None:
    assert summarize(of_places(("a", "0"), ("a", "1"))).startswith("2 processes on a GPU 0,1 arrive late")


@pytest.mark.parametrize("selector", ["", 'cluster="a"'])
def test_the_selector_goes_into_the_query(selector: str) -> None:
    one = of_places(("a", "0"))
    settings = PrometheusSettings(dialect="inspector", selector=selector)
    alert = AlertWriter(AlertmanagerSettings(), settings, 30.0).write(one, one.detected_at)
    (query,) = parse_qs(urlparse(alert.generator_url).query)["g0.expr"]
    assert selector in query
    assert query.count("{") == query.count("}") == 1
    assert ",}" not in query
