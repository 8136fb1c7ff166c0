"""Silences of our alerts, from a real Alertmanager."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pytest_httpserver import HTTPServer
from servers.alertmanager import alertmanager
from servers.incidents import incident
from servers.process import free_port, wait_until
from servers.silences import expire, silence
from servers.webhook import webhook
from werkzeug import Request, Response

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SinkError
from sentinel.model.context import Silence
from sentinel.model.incident import Incident
from sentinel.sink.alert import ALERT_NAMES, AlertWriter
from sentinel.sink.silences import SilenceReader


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with webhook() as hook, alertmanager(tmp_path_factory.mktemp("alertmanager"), hook.url) as address:
        yield address


def reader(*urls: str, **more: object) -> closing[SilenceReader]:
    settings = AlertmanagerSettings.model_validate({"urls": urls, "timeout": "5s", **more})
    return closing(SilenceReader(settings, ALERT_NAMES.values()))


def read(*urls: str, **more: object) -> Mapping[str, tuple[Silence, ...]]:
    with reader(*urls, **more) as one:
        return one.read()


def post(url: str, *incidents: Incident) -> None:
    writer = AlertWriter(AlertmanagerSettings(), PrometheusSettings(), 30.0)
    documents = [writer.write(one, time.time()).document() for one in incidents]
    httpx.post(f"{url}/api/v2/alerts", json=documents, trust_env=False).raise_for_status()


def test_a_silence_is_known_by_its_incident_until_it_is_expired(url: str) -> None:
    first, second = incident("aaaaaaaaaaaa", ranks=(1,)), incident("bbbbbbbbbbbb", ranks=(2,))
    post(url, first, second)
    with reader(url) as one:
        assert one.read() == {}
        ends_at = time.time() // 1 + 600.0
        id_ = silence(url, ends_at, "swap the fan", rank="1")
        wait_until(lambda: bool(one.read()), "the silence is known")
        assert one.read() == {first.id: (Silence(id_, "ops", "swap the fan", ends_at),)}
        both = silence(url, ends_at, "all of it", job_id="4711")
        wait_until(lambda: len(one.read()) == 2, "the second silence is known")
        assert {each.id for each in one.read()[first.id]} == {id_, both}
        expire(url, id_)
        expire(url, both)
        wait_until(lambda: one.read() == {}, "the silences are gone")


def test_alerts_of_others_are_not_asked_for(url: str) -> None:
    other = {"labels": {"alertname": "Other", "node": "n9"}, "annotations": {"incident": "cccccccccccc"}}
    httpx.post(f"{url}/api/v2/alerts", json=[other], trust_env=False).raise_for_status()
    id_ = silence(url, time.time() + 600.0, "theirs", node="n9")
    status = f"{url}/api/v2/alerts?filter=node=n9"
    wait_until(
        lambda: [each["status"]["state"] for each in httpx.get(status, trust_env=False).json()] == ["suppressed"],
        "it is silenced",
    )
    assert read(url) == {}
    expire(url, id_)


def test_the_next_replica_is_asked_when_one_is_down(url: str) -> None:
    down = f"http://127.0.0.1:{free_port()}"
    assert read(down, url) == {}
    with pytest.raises(SinkError, match="Connection refused") as caught:
        read(down)
    assert caught.value.where.startswith(down)
    assert read() == {}


def test_it_is_asked_with_credentials_and_headers(httpserver: HTTPServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return Response("[]")

    httpserver.expect_request("/prefix/api/v2/alerts").respond_with_handler(answer)
    access = {"bearer_token_file": tmp_path / "token", "headers": {"X-Scope-OrgID": "tenant"}}
    assert read(httpserver.url_for("/prefix"), **access) == {}
    (request,) = asked
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.headers["X-Scope-OrgID"] == "tenant"
    assert request.args["active"] == "false"
