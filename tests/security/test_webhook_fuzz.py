"""What comes by the webhook, from the body of a request to the alert that an incident becomes."""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import orjson
import pytest
from cluster.job import Job
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nccl_endpoint.page import Request
from pytest_httpserver import HTTPServer
from servers.incidents import CULPRIT
from servers.notification import alert, notification
from werkzeug import Response

from sentinel.cli.incident_story import incident_story
from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.context import ContextSettings
from sentinel.config.detection import DetectionSettings
from sentinel.config.settings import Settings
from sentinel.config.web import WebSettings
from sentinel.errors import SinkError
from sentinel.incident.context_reader import ContextReader
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.document import incident_document
from sentinel.model.incident import Assessment, Finding
from sentinel.sink.alert import AlertWriter
from sentinel.sink.silences import SilenceReader
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord
from sentinel.web.context import Context
from sentinel.web.endpoint import Endpoint, Pages
from sentinel.web.webhook import WEBHOOK_PATH, Webhook

FUZZ = settings(
    max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SNAPSHOT = next(Job(job_id="4711").ticks(1))
NOW = SNAPSHOT.time
MATCHES = {"match": [{"matchers": ['alertname=~".*a.*"'], "effect": "silence"}, {"matchers": ['x!="y"']}]}
TEXT = st.text(max_size=30) | st.text('"\\\n\r\t\x00\x1b{}=,%[]', max_size=12) | st.sampled_from(["n" * 300, "é" * 99])
LABELS = st.dictionaries(
    TEXT | st.sampled_from(["alertname", "node", "instance", "gpu", "UUID", "job_id"]),
    TEXT | st.sampled_from(["node0", "node0:9100", "4711", "3"]),
    max_size=6,
)
TIMES = st.sampled_from(
    ["2026-11-29T19:36:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00"]
)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    with State.open(tmp_path_factory.mktemp("state")) as opened:
        yield opened


@FUZZ
@given(st.lists(st.tuples(LABELS, TIMES), min_size=1, max_size=12))
def test_any_label_gets_to_the_end_of_the_chain(state: State, said: list[tuple[dict[str, str], str]]) -> None:
    context = Context(WebSettings())
    webhook = Webhook({"alertname": "Ours", "instance": "here"}, {"Ours"}, context, lambda: NOW)
    for labels, starts_at in said:
        each = alert(starts_at=starts_at) | {"labels": {"node": "node0", **labels}}
        webhook.answer(Request("application/json", notification(each)))
    known = ContextReader(ContextSettings.model_validate(MATCHES)).read(context.firing(NOW), SNAPSHOT, {})
    tracker = IncidentTracker(DetectionSettings())
    finding = Finding(CULPRIT, 0.1, NOW - 5.0, 7, {"gpu_uuid": "GPU-3"})
    tracker.step(Assessment(NOW - 1.0, (finding,), frozenset(), {CULPRIT.comm: "watching"}))
    (one,) = tracker.step(Assessment(NOW, (finding,), frozenset(), {CULPRIT.comm: "watching"}), known).ongoing
    configured = Settings()
    document = AlertWriter(configured.alertmanager, configured.prometheus, 30.0).write(one, NOW).document()
    assert len(orjson.dumps(document)) < 4096
    assert document["annotations"]["description"].isprintable()
    assert orjson.loads(orjson.dumps(incident_document(one)))["context"] == incident_document(one)["context"]
    assert all(line.isprintable() for line in incident_story(one, configured, NOW))
    state.record(TickRecord(NOW, Outcome.OK, 0.0, 1), [one], 10, known.freezes)
    assert state.incident(one.id) == [one]
    assert len(state.freezes_since(0.0)) >= len({each.place for each in known.freezes})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    context = Context(WebSettings(max_context_alerts=100))
    webhook = Webhook({"alertname": "Ours"}, {"Ours"}, context, time.time)
    web = WebSettings.model_validate(
        {"listen_address": "127.0.0.1:0", "max_webhook_body": "32MiB", "max_requests_per_second": 10_000}
    )
    with Endpoint(web, Pages(lambda: str(len(context.firing(time.time()))), lambda: "", webhook)) as served:
        yield served


def post(endpoint: Endpoint, body: bytes, **headers: str) -> int:
    url = f"http://{endpoint.address}{WEBHOOK_PATH}"
    kind = {"Content-Type": "application/json", **headers}
    return httpx.post(url, content=body, headers=kind, trust_env=False, timeout=20.0).status_code


def kept(endpoint: Endpoint) -> int:
    return int(httpx.get(f"http://{endpoint.address}/metrics", trust_env=False, timeout=20.0).text)


@pytest.mark.parametrize(
    ("body", "status", "count"),
    [
        (notification(alert(name="x" * 10_000_000)), 200, 0),
        (notification(alert(**{"x" * 10_000_000: "y"})), 200, 0),
        (notification(*(alert(node=str(number)) for number in range(20_000))), 200, 100),
        (notification(*([alert(node="n")] * 20_000)), 200, 1),
        (b"[" * 10_000_000, 400, 0),
        (b'{"version":"4","alerts":' + b"[" * 5_000_000, 400, 0),
        (notification(alert(node="\ud800")), 400, 0),
        (notification(alert(node="a\x00b")), 200, 1),
        (notification(alert(), truncatedAlerts=10**400), 400, 0),
        (b"\xff" * 1000, 400, 0),
    ],
    ids=["value", "name", "many", "duplicates", "deep", "deep alerts", "surrogate", "NUL", "number", "bytes"],
)
def test_large_and_odd_notifications(endpoint: Endpoint, body: bytes, status: int, count: int) -> None:
    assert post(endpoint, body) == status
    assert kept(endpoint) == count


def test_a_compressed_notification_is_not_inflated(endpoint: Endpoint) -> None:
    bomb = b"\x1f\x8b" + b"\x00" * 1000
    assert post(endpoint, bomb, **{"Content-Encoding": "gzip"}) in {400, 415}
    assert kept(endpoint) == 0


JUNK: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["x" * 5000, "NaN", "../../x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class Silences:
    """An Alertmanager with one silenced alert, and something else in one place of it."""

    def __init__(self, server: Any) -> None:
        self._answers: dict[str, Any] = {}
        self.url = server.url_for("").rstrip("/")
        server.expect_request("/api/v2/alerts").respond_with_handler(lambda _: Response(self._answers["alerts"]))
        server.expect_request("/api/v2/silence/5e1f").respond_with_handler(lambda _: Response(self._answers["one"]))

    def ask(self, junk: object, place: str) -> None:
        found = {"annotations": {"incident": "7611"}, "labels": {}, "status": {"silencedBy": ["5e1f"]}}
        one = {"createdBy": "ops", "comment": "fan", "endsAt": "2026-11-29T19:36:00Z"}
        for table in (found, found["annotations"], found["status"], one):
            if place in table:
                table[place] = junk
        self._answers = {"alerts": json.dumps([found] if place else junk), "one": json.dumps(one)}
        access = AlertmanagerSettings.model_validate({"urls": [self.url], "timeout": "20s"})
        with closing(SilenceReader(access, ["NcclRankLate"])) as reader:
            try:
                silences = reader.read()
            except SinkError as error:
                refusal = error
            else:
                assert len(silences) <= 1
                for each in (each for found in silences.values() for each in found):
                    assert len(each.comment) <= 300
                    assert (each.created_by + each.comment).isprintable()
                return
        assert refusal.where.startswith(f"{self.url}/api/v2/")
        assert len(str(refusal)) < 600
        assert str(refusal).isprintable()


@pytest.fixture
def silences(httpserver: HTTPServer) -> Silences:
    return Silences(httpserver)


@FUZZ
@given(JUNK, st.sampled_from(["annotations", "status", "silencedBy", "incident", "createdBy", "comment", "endsAt", ""]))
def test_any_answer_about_silences_is_read_or_refused(silences: Silences, junk: object, place: str) -> None:
    silences.ask(junk, place)
