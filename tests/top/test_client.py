"""Questions over real connections."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bcrypt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page.scenes import COMM, Scene
from page.served import serving
from pytest_httpserver import HTTPServer
from security.hostile import answer, endless, hostile
from servers.authority import Authority
from servers.incidents import INCIDENT
from werkzeug import Response

from sentinel.errors import ConfigError, SourceError
from sentinel.top.access import daemon_access
from sentinel.top.client import DaemonClient, RefusedError

PASSWORD = "pass-5e0b77a1"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, INCIDENT)


@contextmanager
def client(url: str, **options: object) -> Iterator[DaemonClient]:
    with DaemonClient(daemon_access(url=url, **options)) as found:
        yield found


def test_all_of_it(scene: Scene) -> None:
    with serving(scene) as url, client(f"{url}/") as asked:
        assert asked.status().jobs[0].incidents[0].summary.startswith("Rank 3 (on node0 GPU 3) arrives late")
        assert [each.id for each in asked.incidents().incidents] == [INCIDENT.id]
        assert asked.ranking(COMM).ranks[0].global_rank == 3
        story = asked.incident(INCIDENT.id)
        assert (story.started_at, story.alertname) == (INCIDENT.started_at, "NcclRankLate")


def test_what_is_not_there_is_refused(scene: Scene) -> None:
    with serving(scene) as url, client(url) as asked:
        with pytest.raises(RefusedError, match="there is no communicator ff"):
            asked.ranking("ff")
        with pytest.raises(RefusedError, match="there is no incident a&id=b"):
            asked.incident("a&id=b")


@pytest.fixture
def secured(scene: Scene, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """With TLS, a client certificate and a user: the address, and where the files are."""
    authority = Authority(tmp_path)
    authority.issue("server")
    authority.issue("client")
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(
        "tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: authority.pem, "
        "client_auth_type: RequireAndVerifyClientCert}\n"
        f'basic_auth_users: {{oncall: "{hashed}"}}\n'
    )
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    with serving(scene, config_file=tmp_path / "web.yml") as url:
        yield url.replace("http:", "https:"), tmp_path


def test_certificates_and_a_password(secured: tuple[str, Path]) -> None:
    url, folder = secured
    shown = {"ca_file": folder / "authority.pem", "cert_file": folder / "client.pem", "key_file": folder / "client.key"}
    with client(url, **shown, username="oncall", password_file=folder / "password") as asked:
        assert asked.status().jobs
    with client(url, **shown) as asked, pytest.raises(SourceError, match=r"HTTP 401.*Give --username"):
        asked.status()
    with client(url) as asked, pytest.raises(SourceError, match=r"certificate verify failed.*Check --ca-file"):
        asked.status()
    with client(url, ca_file=shown["ca_file"]) as asked, pytest.raises(SourceError):
        asked.status()


def test_a_password_may_come_from_a_pipe(secured: tuple[str, Path]) -> None:
    url, folder = secured
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PASSWORD,))
    writer.start()
    shown = {"ca_file": folder / "authority.pem", "cert_file": folder / "client.pem", "key_file": folder / "client.key"}
    with client(url, **shown, username="oncall", password_file=pipe) as asked:
        assert asked.status().jobs
        assert asked.status().jobs
    writer.join()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": f"http://oncall:{PASSWORD}@host"}, "--url.*no credentials in an address"),
        ({"url": "host:9848"}, "--url.*write an address"),
        ({"url": "http://host", "username": "a"}, "belong together"),
        ({"url": "http://host", "cert_file": "a"}, "belong together"),
    ],
)
def test_wrong_options(options: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        daemon_access(**options)
    assert PASSWORD not in str(caught.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for options in ({"ca_file": tmp_path / "none"}, {"username": "a", "password_file": tmp_path / "none"}):
        with pytest.raises(ConfigError, match="No such file"):
            DaemonClient(daemon_access(url="https://127.0.0.1:9", **options))


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        (answer(HEAD + b"\r\n", b"not JSON"), "not of the API that is known here: no JSON object"),
        (answer(HEAD + b"\r\n", b'{"time": 1}'), "not of the API that is known here: time"),
        (answer(HEAD + b"\r\n", b"[" * 100_000), "not of the API"),
        (answer(HEAD + b"Content-Length: 100\r\n\r\n", b"{}"), "cannot ask the daemon"),
        (answer(HEAD + b"Content-Encoding: gzip\r\n\r\n", b"x"), "is encoded"),
        (answer(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n"), "HTTP 302.*It redirects"),
        (answer(b"HTTP/1.1 502 \x1b[2J\r\n\r\n", b"\x1b[2Jbad\r\ngateway"), r"HTTP 502: \[2Jbad gateway"),
        (answer(b"HTTP/1.1 999 x\r\n\r\n"), "HTTP 999"),
        (answer(b"SSH-2.0-OpenSSH\r\n"), "cannot ask the daemon"),
        (endless(HEAD + b"\r\n", b" " * (1 << 20)), "longer than"),
    ],
)
def test_whatever_answers_there_is_one_error(talk: object, said: str) -> None:
    with hostile(talk) as url, client(url) as asked, pytest.raises(SourceError, match=said) as caught:
        asked.status()
    assert str(caught.value).isprintable()


def test_one_that_dribbles_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentinel.top.client._SECONDS", 0.5)
    late = pytest.raises(SourceError, match=r"no whole answer within 0\.5 s")
    with hostile(endless(HEAD + b"\r\n", b" ", 0.01)) as url, client(url) as asked, late:
        asked.status()


def test_the_password_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    refused = pytest.raises(SourceError, match="HTTP 403: Basic <redacted>")
    with HTTPServer() as server:
        server.expect_request("/api/v1/status").respond_with_handler(
            lambda request: Response(request.headers["Authorization"], 403)
        )
        url = server.url_for("").rstrip("/")
        with client(url, username="a", password_file=tmp_path / "password") as asked, refused:
            asked.status()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def server() -> Iterator[HTTPServer]:
    with HTTPServer() as running:
        yield running


@given(_JSON, st.sampled_from(["time", "daemon", "quality", "jobs", "jobs_left_out"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_document_is_understood_or_refused(server: HTTPServer, value: object, key: str) -> None:
    good = {
        "time": "2026-11-29T19:46:00Z",
        "daemon": {"version": "1", "instance": "i", "fault": "", "tick_seconds": 30.0, "last_tick": None},
        "quality": {"judged": True, "partial": False, "warnings": [], "malformed_series": 0},
        "jobs": [],
        "jobs_left_out": 0,
    }
    server.clear()
    server.expect_request("/api/v1/status").respond_with_json({**good, key: value})
    with client(server.url_for("").rstrip("/")) as asked:
        said = ""
        try:
            asked.status()
        except SourceError as error:
            said = str(error)
        assert said.isprintable()
