"""The API over real connections."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest
from nccl_endpoint.page import Request
from page.scenes import COMM, NOW, Scene, column, roster
from page.served import serving
from servers.incidents import INCIDENT, incident

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.history.archive_file import FILE_NAME
from sentinel.page.site import StatusPage
from sentinel.page.store import Store
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord
from sentinel.web.turn import Turn

API = ("status", "incidents", "incident", "heatmap", "ranking", "signals", "operations", "network", "channels")


def ask(url: str, name: str, **parameters: str) -> Any:
    answer = httpx.get(f"{url}/api/v1/{name}", params=parameters, trust_env=False, timeout=10.0)
    assert answer.headers["Content-Type"] == "application/json"
    return answer.status_code, json.loads(answer.text)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with serving(Scene(tmp_path, INCIDENT)) as address:
        yield address


def test_status(url: str) -> None:
    status, document = ask(url, "status")
    assert (status, document["jobs"][0]["incidents"][0]["summary"]) == (
        200, "Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711"
    )  # fmt: skip
    assert document["time"] == "2026-11-29T19:46:00.500Z"


def test_heatmap_and_ranking(url: str) -> None:
    _, ticks = ask(url, "heatmap", comm=COMM, span="ticks")
    _, bins = ask(url, "heatmap", comm=COMM, quantity="duration")
    assert (ticks["quantity"], ticks["seconds"]["shape"]) == ("lateness", [4, 21])
    assert (bins["quantity"], bins["times"][0], bins["times"][-1]) == ("duration", NOW - 1200.0, NOW)
    assert ticks["marks"][0]["incident"] == INCIDENT.id
    assert ask(url, "ranking", comm=COMM, span="ticks")[1]["ranks"][0]["global_rank"] == 3


def test_signals(url: str) -> None:
    assert [run[3] for run in ask(url, "signals", span="ticks")[1]["communicators"][0]["runs"]] == [0, 1]


def test_incident_with_everything_about_it(url: str) -> None:
    status, document = ask(url, "incident", id=INCIDENT.id)
    assert status == 200
    assert document["alertname"] == "NcclRankLate"
    assert document["description"].startswith("It costs 9.09% of the job's time")
    assert {"name": "lateness", "value": "1 ms"} in document["evidence_parts"]
    assert document["links"]["query"].startswith("http://127.0.0.1:9090/graph?")
    assert document["course"]["culprits"] == [{"global_rank": 3, "node": "node1", "gpu": "1"}]
    assert document["victim_ranks"] == []
    assert document["query"].startswith("sum by (rank)")


def test_incidents_of_the_state_are_told_as_well(tmp_path: Path) -> None:
    ended = incident("old000000000", ranks=(1,), ended_at=NOW - 60.0)
    older = incident("older0000000", ranks=(2,), ended_at=NOW - 2 * 86_400.0)
    stale = incident(cost_ratio=0.5)  # what goes on is as the tick says, not as it was written last
    with State.open(tmp_path) as state:
        state.record(TickRecord(NOW, Outcome.OK, 0.1, 0, ""), [ended, older, stale], 10)
    with serving(Scene(tmp_path, INCIDENT)) as url:
        _, document = ask(url, "incidents")
        assert [(each["id"], each["cost_ratio"]) for each in document["incidents"]] == [
            (INCIDENT.id, INCIDENT.cost_ratio),
            (ended.id, ended.cost_ratio),
        ]
        assert document["fault"] == ""
        assert ask(url, "incident", id=older.id)[1]["course"] is None


def test_a_state_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "sentinel.db").write_bytes(b"no database" * 1000)
    with serving(Scene(tmp_path, INCIDENT)) as url:
        _, document = ask(url, "incidents")
        assert [each["id"] for each in document["incidents"]] == [INCIDENT.id]
        assert "broken" in document["fault"]


@pytest.mark.parametrize(
    ("name", "parameters", "status", "error"),
    [
        ("heatmap", {}, 400, "comm has to be given, once"),
        ("heatmap", {"comm": COMM, "quantity": "age"}, 400, "quantity is one of lateness, duration"),
        ("heatmap", {"comm": COMM, "span": "year"}, 400, "span is one of ticks, bins"),
        ("ranking", {"comm": "ff"}, 404, "there is no communicator ff"),
        ("incident", {"id": "ff"}, 404, "there is no incident ff"),
        # Nobody's text gets into a query of the store.
        ("operations", {"comm": 'x"} or up{a="'}, 404, 'there is no communicator x"} or up{a="'),
    ],
)
def test_what_cannot_be_answered_is_said(
    url: str, name: str, parameters: dict[str, str], status: int, error: str
) -> None:
    assert ask(url, name, **parameters) == (status, {"error": error})


@pytest.mark.parametrize("name", ["operations", "network", "channels"])
def test_a_store_that_does_not_answer_is_said_without_its_address(url: str, name: str) -> None:
    status, document = ask(url, name, comm=COMM)
    assert status == 502
    assert document["error"].startswith("cannot query Prometheus: ")
    assert "127.0.0.1" not in document["error"]


def test_a_store_that_hangs_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    scene = Scene(tmp_path, INCIDENT)
    scene.store._lock.acquire()
    with serving(scene) as url:
        assert ask(url, "status")[0] == 200
        status, document = ask(url, "operations", comm=COMM)
    assert (status, document["error"]) == (
        502, "cannot ask the metrics store: it has not answered the question before yet"
    )  # fmt: skip


def test_the_page_and_its_files(url: str) -> None:
    page = httpx.get(url, trust_env=False)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-cache"
    names = [part.split('"')[0] for part in page.text.split('="/static/')[1:]]
    assert any(name.endswith("/main.js") for name in names)
    for name in names:
        for encoding in ("gzip", "identity"):
            file = httpx.get(f"{url}/static/{name}", headers={"Accept-Encoding": encoding}, trust_env=False)
            assert file.status_code == 200
            assert "immutable" in file.headers["Cache-Control"]
            assert file.text


def test_a_browser_is_kept_from_everything_else(url: str) -> None:
    for path in ("/", "/api/v1/status", "/api/v1/incident?id=ff"):
        headers = httpx.get(url + path, trust_env=False).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert (policy["script-src"], policy["style-src"], policy["connect-src"]) == ("'self'",) * 3
        assert (policy["frame-ancestors"], headers["X-Content-Type-Options"]) == ("'none'", "nosniff")
    assert httpx.get(f"{url}/api/v1/status", trust_env=False).headers["Cache-Control"] == "no-store"


def test_only_reading(url: str) -> None:
    for name in API:
        assert httpx.post(f"{url}/api/v1/{name}", content=b"{}", trust_env=False).status_code == 405


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/heatmaps", "/static/../site.py"])
def test_a_path_that_is_none_is_said(url: str, path: str) -> None:
    answer = httpx.get(url + path, trust_env=False)
    assert (answer.status_code, json.loads(answer.text)) == (404, {"error": "there is no such page"})


def test_nothing_of_it_without_the_password(tmp_path: Path) -> None:
    users = tmp_path / "web.yml"
    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    users.write_text(f'basic_auth_users: {{reader: "{hashed}"}}\n')
    scene = Scene(tmp_path, INCIDENT)
    with serving(scene, config_file=users) as url, httpx.Client(trust_env=False) as client:
        paths = ["/", *StatusPage(scene, lambda: NOW, Turn()).pages()]
        assert {client.get(url + path).status_code for path in paths} == {401}
        assert client.get(url, auth=("reader", "right")).status_code == 200
        assert client.get(f"{url}/api/v1/status", auth=("reader", "right")).status_code == 200


def test_without_the_file_bins_are_of_the_last_hour_and_that_is_said(tmp_path: Path) -> None:
    with serving(Scene(tmp_path, INCIDENT)) as url:
        assert ask(url, "heatmap", comm=COMM)[1]["fault"] == ""
        (tmp_path / FILE_NAME).write_bytes(b"no database" * 1000)
        for name in ("heatmap", "ranking", "signals"):
            status, document = ask(url, name, **({} if name == "signals" else {"comm": COMM}))
            assert status == 200
            assert "history of the status page" in document["fault"]
            assert str(tmp_path) not in document["fault"]
        assert ask(url, "heatmap", comm=COMM)[1]["times"][0] > NOW - 3600.0
        assert ask(url, "heatmap", comm=COMM, span="ticks")[1]["fault"] == ""


def test_the_same_heatmap_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("sentinel.page.site.heatmap_document", lambda *_: made.append(1) or {"made": len(made)})
    scene = Scene(tmp_path, INCIDENT)
    with serving(scene) as url:
        assert [ask(url, "heatmap", comm=COMM)[1]["made"] for _ in range(3)] == [1, 1, 1]
        assert [ask(url, "heatmap", comm=COMM, span="ticks")[1]["made"] for _ in range(2)] == [2, 2]
        assert ask(url, "heatmap", comm=COMM)[1]["made"] == 1
        with State.open(tmp_path) as state:
            ended = incident("old000000000", ranks=(1,), ended_at=NOW - 60.0)
            state.record(TickRecord(NOW, Outcome.OK, 0.1, 0, ""), [ended], 10)
        assert ask(url, "heatmap", comm=COMM)[1]["made"] == 3  # it is marked as well


def test_heatmaps_are_let_go_of(tmp_path: Path) -> None:
    scene = Scene(tmp_path, INCIDENT)
    page = StatusPage(scene, lambda: NOW, Turn())
    heatmap = page.pages()["/api/v1/heatmap"]
    for span in ("ticks", "bins"):
        heatmap(Request("", b"", f"comm={COMM}&span={span}"))
    assert len(page._heatmaps._held) == 2
    page.forget()
    assert len(page._heatmaps._held) == 0


def test_after_a_large_answer_somebody_tidies_up(tmp_path: Path) -> None:
    scene, tidied = Scene(tmp_path, INCIDENT), []
    pages = StatusPage(scene, lambda: NOW, Turn(), lambda: tidied.append(1)).pages()
    pages["/api/v1/heatmap"](Request("", b"", f"comm={COMM}"))
    assert tidied == []
    scene.record._strips[COMM].roster = roster(4096)
    scene.record._strips[COMM].add(column(NOW + 30.0, [0.0] * 4096))
    pages["/api/v1/heatmap"](Request("", b"", f"comm={COMM}"))
    assert tidied == [1]


def test_other_settings_of_the_store_are_followed() -> None:
    store = Store(PrometheusSettings(url="http://127.0.0.1:9"))
    store.configure(PrometheusSettings(url="http://127.0.0.1:10", timeout="2s"))
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:10"):
        store.read("operations", COMM, 3600.0, NOW)
