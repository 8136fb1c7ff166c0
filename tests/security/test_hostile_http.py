"""Servers that break HTTP, never end, or answer with more than was asked for: one error, in time, and in bounds."""

import gzip
import threading
from collections.abc import Callable, Iterator

import orjson
import pytest
from pytest_httpserver import HTTPServer
from security.hostile import Talk, answer, endless, hostile
from servers.tls import CERTIFICATE, server_context

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SentinelError
from sentinel.sink.silences import SilenceReader
from sentinel.source.prometheus import PrometheusSource

EMPTY = orjson.dumps({"status": "success", "data": {"resultType": "vector", "result": []}})
OK = b"HTTP/1.1 200 OK\r\n"
LIMIT = 1 << 20
BOMB = gzip.compress(b" " * (64 << 20))


def ask_prometheus(url: str) -> str:
    settings = {"url": url, "timeout": "200ms", "max_answer": LIMIT, "retries": 1}
    with (
        PrometheusSource(PrometheusSettings.model_validate(settings)) as source,
        pytest.raises(SentinelError) as caught,
    ):
        source.snapshot(1000.0)
    assert caught.value.where.startswith(f"{url}/api/v1/query, query max by (comm, rank, ")
    return str(caught.value)


def ask_alertmanager(url: str) -> str:
    reader = SilenceReader(AlertmanagerSettings.model_validate({"urls": [url], "timeout": "200ms"}), ["NcclRankLate"])
    with pytest.raises(SentinelError) as caught:
        reader.read()
    reader.close()
    assert caught.value.where == f"{url}/api/v2/alerts"
    return str(caught.value)


@pytest.fixture(params=[ask_prometheus, ask_alertmanager], ids=["prometheus", "alertmanager"])
def ask(request: pytest.FixtureRequest) -> Callable[[str], str]:
    return request.param


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        (answer(b""), "closed"),
        (answer(b"\x00" * 100), ""),
        (answer(b"\x16\x03\x01" * 100), ""),
        (answer(b"SSH-2.0-OpenSSH\r\n"), "SSH-2.0"),
        (answer(b"HTTP/9.9 200 OK\r\n\r\n"), ""),
        (answer(b"HTTP/1.1 abc OK\r\n\r\n"), ""),
        (answer(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), "HTTP 999"),
        (answer(b"HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n"), "HTTP 299"),
        (answer(b"HTTP/1.1 204 No Content\r\n\r\n"), "HTTP 204"),
        (answer(OK + b"Content-Length: -5\r\n\r\n", EMPTY[:20]), ""),
        (answer(OK + b"Content-Length: many\r\n\r\n", EMPTY[:20]), ""),
        (answer(OK + b"Content-Length: 99999999999999999999\r\n\r\n", EMPTY), ""),
        (answer(OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n", EMPTY), ""),
        (answer(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), ""),
        (answer(OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n"), ""),
        (answer(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"), ""),
        (answer(OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n"), ""),
        (answer(OK + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n"), ""),
        (answer(OK + b"\xff\xfe: \x80\x00\r\nno colon\r\n\r\n", b"{"), ""),
        (answer(OK + b"Content-Encoding: gzip\r\n\r\n", BOMB), "encoded ('gzip')"),
        (answer(OK + b"Content-Encoding: br\r\n\r\n", EMPTY), "encoded ('br')"),
        (answer(OK + b"Content-Encoding: deflate, gzip\r\n\r\n", BOMB), "encoded"),
        (answer(b"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\n\r\n", BOMB), "HTTP 500"),
    ],
)  # fmt: skip
def test_what_is_not_http_as_it_should_be_is_one_error(ask: Callable[[str], str], talk: Talk, why: str) -> None:
    with hostile(talk) as url:
        said = ask(url)
    assert why in said
    assert len(said) < 1500
    assert said.isprintable()


@pytest.mark.parametrize(
    "talk",
    [
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        endless(b"HTTP/1.1 200 OK", b"K", 0.02),
        endless(OK, b"X: y\r\n", 0.02),
        endless(OK + b"Content-Length: 1000000\r\n\r\n", b" ", 0.02),
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.02),
        endless(OK + b"\r\n", b" ", 0.02),
        endless(b"HTTP/1.1 401 No\r\n\r\n", b"no ", 0.02),
        endless(b"HTTP/1.1 401 No\r\nContent-Length: 60000\r\n\r\n", b"no ", 0.02),
        endless(b"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.02),
    ],
)
def test_what_dribbles_is_given_up_wherever_it_does(ask: Callable[[str], str], talk: Talk) -> None:
    """Each piece comes in time for a socket's timeout; all of it together does not."""
    with hostile(talk) as url:
        said = ask(url)
    assert "no whole answer within 0.2 s" in said or "HTTP " in said


def test_what_dribbles_over_tls_is_given_up() -> None:
    """It looks like a broken TLS connection then, and is told as what it is."""
    for head in (b"HTTP/1.1 200 OK", OK + b"Content-Length: 1000000\r\n\r\n"):
        with hostile(endless(head, b"K", 0.02), server_context()) as url:
            access = {"url": url, "timeout": "300ms", "ca_file": CERTIFICATE, "retries": 0}
            with (
                PrometheusSource(PrometheusSettings.model_validate(access)) as source,
                pytest.raises(SentinelError, match=r"no whole answer within 0\.3 s"),
            ):
                source.snapshot(1000.0)


CHUNK = b"1000\r\n" + b" " * 4096 + b"\r\n"


@pytest.mark.parametrize(
    "talk", [endless(OK + b"\r\n", b" " * 65536), endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", CHUNK)]
)
def test_an_answer_without_end_is_not_read_to_it(ask: Callable[[str], str], talk: Talk) -> None:
    with hostile(talk) as url:
        said = ask(url)
    assert "longer than" in said or "no whole answer" in said


@pytest.fixture
def elsewhere() -> Iterator[HTTPServer]:
    with HTTPServer() as server:
        server.expect_request("/").respond_with_data(EMPTY)
        yield server


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    ask: Callable[[str], str], httpserver: HTTPServer, elsewhere: HTTPServer, status: int
) -> None:
    for path in ("/api/v1/query", "/api/v2/alerts"):
        httpserver.expect_request(path).respond_with_data("", status, {"Location": elsewhere.url_for("/")})
    assert f"HTTP {status}" in ask(httpserver.url_for("").rstrip("/"))
    assert elsewhere.log == []


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    with hostile(answer(OK + b"Content-Length: 2\r\n\r\n", b"[]")) as url:
        reader = SilenceReader(AlertmanagerSettings.model_validate({"urls": [url]}), ["NcclRankLate"])
        for _ in range(5):
            assert reader.read() == {}
        reader.close()
    assert threading.active_count() == before
