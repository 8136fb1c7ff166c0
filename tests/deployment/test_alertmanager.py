"""The shipped configuration in a real Alertmanager: what is inhibited, and what comes back to the daemon."""

import base64
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from deployment.rule_files import CONFIG
from deployment.tool import tool
from pytest_httpserver import HTTPServer
from servers.incidents import CULPRIT, INCIDENT
from servers.process import free_port, running, wait_until
from servers.tls import CERTIFICATE, server_context
from werkzeug import Request, Response

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.incident import Incident, Tier, Verdict
from sentinel.sink.alert import AlertWriter
from sentinel.sink.alertmanager import AlertmanagerSink

PASSWORD = "only for this test"
WEBHOOK = "/webhook/alertmanager"


class Receivers:
    """Everybody who is told, at one address: a path each. Keeps (path, status, labels), and credentials."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("").rstrip("/")
        self.told: list[tuple[str, str, dict[str, str]]] = []
        self.authorizations: set[tuple[str, str]] = set()
        server.expect_request(re.compile(".*"), method="POST").respond_with_handler(self._take)

    def _take(self, request: Request) -> Response:
        self.authorizations.add((request.path, request.headers.get("Authorization", "")))
        self.told += [(request.path, each["status"], each["labels"]) for each in request.get_json()["alerts"]]
        return Response(status=200)

    def find(self, path: str, **labels: str) -> list[dict[str, str]]:
        return [found for where, _, found in self.told if where == path and labels.items() <= found.items()]


@pytest.fixture
def receivers() -> Iterator[Receivers]:
    with HTTPServer(host="127.0.0.1", ssl_context=server_context()) as server:
        yield Receivers(server)


@pytest.fixture
def alertmanager(tmp_path: Path, receivers: Receivers) -> Iterator[str]:
    """As shipped, but for addresses, secrets and patience."""
    program = tool("alertmanager", "prometheus-alertmanager")
    text = (CONFIG / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8")
    configuration: dict[str, Any] = yaml.safe_load(text)
    for receiver in configuration["receivers"]:
        for hook in receiver["webhook_configs"]:
            ours = hook["url"].endswith(WEBHOOK)
            hook["url"] = receivers.url + (WEBHOOK if ours else f"/{receiver['name']}")
            hook.setdefault("http_config", {})["tls_config"] = {"ca_file": str(CERTIFICATE)}
    for route in configuration["route"]["routes"]:
        route |= {"group_wait": "0s", "group_interval": "1s"}
    file = tmp_path / "alertmanager.yml"
    file.write_text(yaml.safe_dump(configuration))
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "nccl-sentinel-webhook-password").write_text(PASSWORD)
    url = f"http://127.0.0.1:{free_port()}"
    arguments = [
        program,
        f"--config.file={file}",
        f"--storage.path={tmp_path / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--cluster.listen-address=",
    ]
    with running(arguments, tmp_path, f"{url}/-/ready"):
        yield url


def of_job(tier: Tier, job_id: str, job: str = "aa", verdict: Verdict = Verdict.LATE_RANK, rank: int = 3) -> Incident:
    culprit = replace(CULPRIT, job_id=job_id, job=job, verdict=verdict, ranks=(rank,))
    return replace(INCIDENT, culprit=culprit, tier=tier, started_at=time.time() - 60.0)


def send(url: str, *incidents: Incident, **labels: str) -> None:
    settings = AlertmanagerSettings(urls=(url,), external_labels=labels)
    writer = AlertWriter(settings, PrometheusSettings(), 30.0)
    with AlertmanagerSink(settings) as sink:
        sink.send([writer.write(each, time.time()) for each in incidents])
        sink.settle(10.0)


def post(url: str, **labels: str) -> None:
    httpx.post(f"{url}/api/v2/alerts", json=[{"labels": labels}], trust_env=False).raise_for_status()


def suppressed(url: str) -> set[tuple[str, ...]]:
    """(tier, job_id, comm, cluster) of the alerts that are inhibited now."""
    shown = httpx.get(f"{url}/api/v2/alerts", params={"active": "false", "inhibited": "true"}, trust_env=False).json()
    return {tuple(a["labels"].get(n, "") for n in ("tier", "job_id", "comm", "cluster")) for a in shown}


def test_a_higher_tier_of_the_same_job_inhibits(alertmanager: str, receivers: Receivers) -> None:
    send(alertmanager, of_job(Tier.P0, "stuck", verdict=Verdict.STALLED), of_job(Tier.P1, "slow"))
    wait_until(lambda: bool(receivers.find("/page", job_id="stuck")), "the page")
    wait_until(lambda: bool(receivers.find("/ticket", job_id="slow")), "the ticket")
    send(
        alertmanager,
        of_job(Tier.P1, "stuck", rank=5),
        of_job(Tier.P2, "stuck", rank=6),
        of_job(Tier.P2, "slow", rank=6),
        of_job(Tier.P2, "well"),
    )
    wait_until(lambda: bool(receivers.find("/digest", job_id="well")), "the digest")
    assert suppressed(alertmanager) == {("P1", "stuck", "", ""), ("P2", "stuck", "", ""), ("P2", "slow", "", "")}
    assert {labels["job_id"] for path, _, labels in receivers.told if path == "/digest"} == {"well"}
    assert {labels["job_id"] for path, _, labels in receivers.told if path == "/ticket"} == {"slow"}


def test_jobs_without_an_id_are_told_apart(alertmanager: str, receivers: Receivers) -> None:
    send(alertmanager, of_job(Tier.P0, "", "00aa", verdict=Verdict.STALLED))
    wait_until(lambda: bool(receivers.find("/page", comm="00aa")), "the page")
    send(
        alertmanager,
        of_job(Tier.P2, "", "00aa", rank=5),
        of_job(Tier.P2, "", "00bb", rank=6),
        of_job(Tier.P2, "4711", "00aa", rank=7),
    )
    wait_until(lambda: bool(receivers.find("/digest", comm="00bb")), "the other job's")
    wait_until(lambda: bool(receivers.find("/digest", job_id="4711")), "the one with an id")
    assert suppressed(alertmanager) == {("P2", "", "00aa", "")}
    assert not receivers.find("/digest", comm="00aa")


def test_clusters_are_told_apart_and_others_take_no_part(alertmanager: str, receivers: Receivers) -> None:
    send(alertmanager, of_job(Tier.P0, "4711", verdict=Verdict.STALLED), cluster="east")
    wait_until(lambda: bool(receivers.find("/page", cluster="east")), "the page")
    send(alertmanager, of_job(Tier.P2, "4711"), cluster="west")
    post(alertmanager, alertname="ShopClosed", tier="P0")
    wait_until(lambda: bool(receivers.find("/others", alertname="ShopClosed")), "another's P0")
    post(alertmanager, alertname="ShopSlow", tier="P2")
    post(alertmanager, alertname="NcclSentinelStateNotWritten", severity="warning", instance="a:1")
    wait_until(lambda: bool(receivers.find("/digest", cluster="west")), "the other cluster's")
    wait_until(lambda: bool(receivers.find("/others", alertname="ShopSlow")), "what is not ours")
    wait_until(lambda: bool(receivers.find("/ticket", alertname="NcclSentinelStateNotWritten")), "about ourselves")
    assert suppressed(alertmanager) == set()


def test_the_heartbeat_and_other_alerts_come_to_the_daemon_with_its_password(
    alertmanager: str, receivers: Receivers
) -> None:
    send(alertmanager, of_job(Tier.P1, "4711"))
    post(alertmanager, alertname="NcclSentinelHeartbeat", severity="info")
    post(alertmanager, alertname="GpuXidError", node="gpu-1")
    wait_until(lambda: bool(receivers.find(WEBHOOK, alertname="NcclSentinelHeartbeat")), "the heartbeat")
    wait_until(lambda: bool(receivers.find(WEBHOOK, alertname="GpuXidError")), "the context")
    wait_until(lambda: bool(receivers.find("/others", alertname="GpuXidError")), "what others are told")
    wait_until(lambda: bool(receivers.find("/ticket")), "the ticket")
    credentials = base64.b64encode(f"alertmanager:{PASSWORD}".encode()).decode()
    assert {said for path, said in receivers.authorizations if path == WEBHOOK} == {f"Basic {credentials}"}
    assert {said for path, said in receivers.authorizations if path != WEBHOOK} == {""}
    assert not receivers.find(WEBHOOK, alertname="NcclRankLate")
    assert {path for path, _, labels in receivers.told if labels["alertname"] == "NcclSentinelHeartbeat"} == {WEBHOOK}
