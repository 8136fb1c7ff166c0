"""What a server can do wrong, and what is said of it."""

import socket
import threading
from pathlib import Path

import orjson
import pytest
from pytest_httpserver import HTTPServer
from servers.process import free_port
from servers.tls import CERTIFICATE, KEY, server_context
from werkzeug import Request, Response

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.source.prometheus import PrometheusSource

EMPTY = orjson.dumps({"status": "success", "data": {"resultType": "vector", "result": []}})


def settings(url: str, **more: object) -> PrometheusSettings:
    return PrometheusSettings.model_validate({"url": url, "timeout": "5s", **more})


def ask(url: str, **more: object) -> SourceError:
    with PrometheusSource(settings(url, **more)) as source, pytest.raises(SourceError) as caught:
        source.snapshot(1000.0)
    return caught.value


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html><body>Login</body></html>", "not JSON: '<html>"),
        (b"", "not JSON"),
        (EMPTY[:-7], "cut off after"),
        (b"[]", "not a JSON object"),
        (b'{"status":"success"}', "expected a vector, found 'nothing'"),
        (b'{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}', "expected a vector, found 'scalar'"),
        (b'{"status":"success","data":{"resultType":"vector","result":null}}', "expected a vector"),
        (b'{"status":"error","errorType":"execution","error":"out of luck"}', "execution: out of luck"),
        (b'{"status":"odd"}', "status: odd"),
    ],
)
def test_an_answer_that_cannot_be_used(httpserver: HTTPServer, body: bytes, why: str) -> None:
    httpserver.expect_request("/api/v1/query").respond_with_data(body, content_type="application/json")
    error = ask(httpserver.url_for(""))
    assert why in error.why
    assert error.where.startswith(httpserver.url_for("/api/v1/query") + ", query max by (comm, rank, global_rank")


@pytest.mark.parametrize(
    ("status", "body", "why", "hint"),
    [
        (400, b'{"status":"error","errorType":"bad_data","error":"odd"}', "HTTP 400: bad_data: odd", ""),
        (401, b"who are you", "HTTP 401: who are you", "bearer_token_file"),
        (403, b"", "HTTP 403", "headers"),
        (404, b"nothing here", "HTTP 404: nothing here", "path prefix"),
        (302, b"", "HTTP 302", "redirects"),
        (422, b'{"status":"error","errorType":"execution","error":"too many samples"}', "too many", "max-samples"),
        (503, b'{"status":"error","errorType":"timeout","error":"query timed out"}', "timeout: query timed out", ""),
    ],
)  # fmt: skip
def test_a_refusal_is_said_in_the_server_s_words(
    httpserver: HTTPServer, status: int, body: bytes, why: str, hint: str
) -> None:
    httpserver.expect_request("/api/v1/query").respond_with_data(body, status=status)
    error = ask(httpserver.url_for(""), retries=0)
    assert why in error.why
    assert hint in error.hint


def test_transient_failures_are_tried_again(httpserver: HTTPServer) -> None:
    httpserver.expect_ordered_request("/api/v1/query").respond_with_data("busy", status=503)
    httpserver.expect_ordered_request("/api/v1/query").respond_with_data("busy", status=429)
    for _ in range(8):
        httpserver.expect_ordered_request("/api/v1/query").respond_with_data(EMPTY)
    with PrometheusSource(settings(httpserver.url_for(""), retries=2)) as source:
        assert source.snapshot(1000.0).time == 1000.0
    httpserver.check()


def test_every_attempt_is_told_with_its_time(httpserver: HTTPServer) -> None:
    told: list[tuple[str, float]] = []
    httpserver.expect_oneshot_request("/api/v1/query").respond_with_data("", status=503)
    httpserver.expect_request("/api/v1/query").respond_with_data(EMPTY, content_type="application/json")
    with PrometheusSource(settings(httpserver.url_for("")), lambda *each: told.append(each)) as source:
        source.snapshot(1000.0)
    assert [outcome for outcome, _ in told] == ["error", *["ok"] * 8]
    assert all(0.0 < seconds < 5.0 for _, seconds in told)


def test_the_last_failure_counts_when_none_succeeds(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/v1/query").respond_with_data("busy", status=503)
    assert "HTTP 503: busy" in ask(httpserver.url_for(""), retries=2).why
    assert len(httpserver.log) == 3


def test_a_refusal_is_not_tried_again(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/v1/query").respond_with_data("no", status=400)
    ask(httpserver.url_for(""), retries=2)
    assert len(httpserver.log) == 1


def test_nobody_listens() -> None:
    error = ask(f"http://127.0.0.1:{free_port()}")
    assert "Connection refused" in error.why
    assert "Is it running" in error.hint


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        error = ask(f"http://127.0.0.1:{server.getsockname()[1]}", timeout="200ms")
    assert "no whole answer within 0.2 s" in error.why
    assert "prometheus.timeout" in error.hint


def test_a_server_that_dribbles_is_given_up() -> None:
    """Each byte comes in time for the socket; the whole answer does not."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def dribble() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not stop.wait(0.05):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=dribble)
        thread.start()
        try:
            error = ask(f"http://127.0.0.1:{server.getsockname()[1]}", timeout="400ms")
        finally:
            stop.set()
            thread.join()
    assert "no whole answer within 0.4 s" in error.why


def test_an_answer_that_is_cut_off_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + EMPTY)

        thread = threading.Thread(target=hang_up)
        thread.start()
        error = ask(f"http://127.0.0.1:{server.getsockname()[1]}", retries=0)
        thread.join()
    assert "cannot query Prometheus" in error.what


def test_an_answer_that_is_too_long_is_not_read(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/v1/query").respond_with_data(b" " * 2_000_000)
    error = ask(httpserver.url_for(""), max_answer="1MiB")
    assert "longer than 1.0MiB" in error.why
    assert "prometheus.max_answer" in error.hint


def test_queries_are_posted_as_forms_with_credentials_and_headers(httpserver: HTTPServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        _ = request.form
        requests.append(request)
        return Response(EMPTY)

    httpserver.expect_request("/prefix/api/v1/query", method="POST").respond_with_handler(answer)
    access = {"bearer_token_file": token, "headers": {"X-Scope-OrgID": "tenant"}, "selector": 'cluster="a"'}
    with PrometheusSource(settings(httpserver.url_for("/prefix"), **access)) as source:
        source.snapshot(1000.25)
    assert len(requests) == 8
    for request in requests:
        assert request.query_string == b""
        assert request.form["time"] == "1000.250"
        assert request.form["timeout"] == "5000ms"
        assert 'cluster="a"' in request.form["query"]
        assert request.headers["Authorization"] == "Bearer secret"
        assert request.headers["X-Scope-OrgID"] == "tenant"


def test_the_environment_s_proxy_and_netrc_are_not_used(
    httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    httpserver.expect_request("/api/v1/query").respond_with_data(EMPTY)
    with PrometheusSource(settings(httpserver.url_for(""))) as source:
        source.snapshot(1000.0)
    assert all("Authorization" not in request.headers for request, _ in httpserver.log)


@pytest.fixture(scope="module")
def tls_server() -> object:
    server = HTTPServer(ssl_context=server_context(mutual=True))
    server.start()
    server.expect_request("/api/v1/query").respond_with_data(EMPTY)
    yield server
    server.stop()


def test_tls_both_ways(tls_server: HTTPServer) -> None:
    access = {"ca_file": CERTIFICATE, "cert_file": CERTIFICATE, "key_file": KEY}
    with PrometheusSource(settings(tls_server.url_for("").replace("localhost", "127.0.0.1"), **access)) as source:
        assert source.snapshot(1000.0).time == 1000.0


def test_https_where_there_is_none_is_said(httpserver: HTTPServer) -> None:
    error = ask(httpserver.url_for("").replace("http://", "https://"))
    assert "No TLS is spoken there" in error.hint


def test_an_unknown_authority_is_not_trusted(tls_server: HTTPServer) -> None:
    error = ask(tls_server.url_for("").replace("localhost", "127.0.0.1"))
    assert "certificate verify failed" in error.why
    assert "prometheus.ca_file" in error.hint
