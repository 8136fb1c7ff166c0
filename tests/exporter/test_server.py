import gzip
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nccl_exporter import server as web
from nccl_exporter.address import Address
from nccl_exporter.errors import ExporterError
from nccl_exporter.server import TEXT_FORMAT, Server

TEXT = "nccl_a 1\n" * 500


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    running: list[tuple[Server, threading.Thread]] = []

    def start(collect: Callable[[], str] = lambda: TEXT, host: str = "127.0.0.1", **options: Any) -> Server:
        server = Server(Address(host, 0), collect, **options)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.address.port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("path", "content_type", "part"),
    [
        ("/metrics", TEXT_FORMAT, b"nccl_a 1\n"),
        ("/metrics?x=1", TEXT_FORMAT, b"nccl_a 1\n"),
        ("/-/healthy", "text/plain; charset=utf-8", b"nccl-exporter is healthy.\n"),
        ("/", "text/html; charset=utf-8", b'<a href="/metrics">'),
    ],
)
def test_pages(serve: Callable[..., Server], path: str, content_type: str, part: bytes) -> None:
    server = serve()
    answer, body = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, content_type)
    assert part in body
    assert int(answer.headers["Content-Length"]) == len(body)
    head, nothing = ask(server, path, "HEAD")
    assert (head.status, head.headers["Content-Length"], nothing) == (200, str(len(body)), b"")


@pytest.mark.parametrize("path", ["/metric", "/metrics/", "/../etc/passwd", "/favicon.ico"])
def test_anything_else_is_not_found(serve: Callable[..., Server], path: str) -> None:
    assert ask(serve(), path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"])
def test_other_methods_are_not_allowed(serve: Callable[..., Server], method: str) -> None:
    answer, _ = ask(serve(), "/metrics", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("gzip;q=0", False), ("identity", False), ("", False)],
)
def test_gzip_when_asked(serve: Callable[..., Server], accepted: str, compressed: bool) -> None:
    answer, body = ask(serve(), "/metrics", **{"Accept-Encoding": accepted})
    assert (answer.headers["Content-Encoding"] == "gzip") == compressed
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert (gzip.decompress(body) if compressed else body).decode() == TEXT


def test_connection_is_kept(serve: Callable[..., Server]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", serve().address.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/metrics")
        assert connection.getresponse().read().decode() == TEXT
    connection.close()


def test_client_that_says_nothing_keeps_nobody_waiting(serve: Callable[..., Server]) -> None:
    server = serve(connections=4)
    silent = [socket.create_connection(("127.0.0.1", server.address.port), timeout=10) for _ in range(10)]
    for connection in silent[5:]:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x")
    assert ask(server, "/metrics")[0].status == 200
    assert silent[0].recv(1) == b""  # the oldest had to go
    for connection in silent:
        connection.close()


def test_client_that_is_silent_for_long_is_let_go(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web._Handler, "timeout", 0.05)
    with socket.create_connection(("127.0.0.1", serve().address.port), timeout=10) as connection:
        assert connection.recv(1) == b""


def test_client_that_goes_away_is_no_event(serve: Callable[..., Server], caplog: pytest.LogCaptureFixture) -> None:
    server = serve(lambda: "x" * 10_000_000)
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            connection.recv(10)
    assert ask(server, "/-/healthy")[0].status == 200
    assert caplog.messages == []


def test_error_of_ours_is_logged(
    serve: Callable[..., Server], caplog: pytest.LogCaptureFixture, poll: Callable[..., Any]
) -> None:
    def broken() -> str:
        raise ValueError("broken")

    server = serve(broken)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server, "/metrics")
    poll(lambda: "ValueError: broken" in caplog.text)
    assert ask(server, "/-/healthy")[0].status == 200


def test_line_that_never_ends(serve: Callable[..., Server]) -> None:
    with socket.create_connection(("127.0.0.1", serve().address.port), timeout=10) as connection:
        connection.sendall(b"GET /" + b"a" * 70_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 414")


def test_empty_host_answers_on_both_protocols(serve: Callable[..., Server]) -> None:
    server = serve(host="")
    hosts = ["127.0.0.1", *(["::1"] if socket.has_dualstack_ipv6() else [])]
    for host in hosts:
        socket.create_connection((host, server.address.port), timeout=10).close()


def test_port_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ExporterError) as caught:
            Server(Address("127.0.0.1", port), lambda: "")
    assert str(caught.value) == (
        f"cannot listen (127.0.0.1:{port}): Address already in use. Choose another address with --web.listen-address"
    )


def test_host_that_is_not_ours() -> None:
    with pytest.raises(ExporterError, match=r"cannot listen \(192\.0\.2\.1:9847\): Cannot assign"):
        Server(Address("192.0.2.1", 9847), lambda: "")
