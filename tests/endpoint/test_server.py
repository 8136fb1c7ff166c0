# SPDX-License-Identifier: Apache-2.0
"""Requests and connections, good and bad."""

import gzip
import http.client
import socket
from collections.abc import Callable
from typing import Any

import pytest
from nccl_endpoint.address import Address
from nccl_endpoint.errors import EndpointError
from nccl_endpoint.page import Site
from nccl_endpoint.server import Server

TEXT = "nccl_a 1\n" * 500
Serve = Callable[..., Server]


def ask(
    server: Server, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.address.port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


@pytest.mark.parametrize("path", ["/metrics", "/metrics?x=1"])
def test_page(serve: Serve, path: str) -> None:
    server = serve(collect=lambda: TEXT)
    answer, body = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"], body.decode()) == (200, "text/plain; version=0.0.4", TEXT)
    assert int(answer.headers["Content-Length"]) == len(body)
    assert answer.headers["Server"] == "a-program/1.2"
    head, nothing = ask(server, path, "HEAD")
    assert (head.status, head.headers["Content-Length"], nothing) == (200, str(len(body)), b"")


@pytest.mark.parametrize("path", ["/metric", "/metrics/", "/../etc/passwd", "/favicon.ico"])
def test_anything_else_is_not_found(serve: Serve, path: str) -> None:
    assert ask(serve(), path)[0].status == 404


def test_address_that_is_none_is_not_found(serve: Serve) -> None:
    with socket.create_connection(serve().address, timeout=10) as connection:
        connection.sendall(b"GET http://[x/metrics HTTP/1.1\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"])
def test_other_methods_are_not_allowed(serve: Serve, method: str) -> None:
    answer, _ = ask(serve(), "/metrics", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("gzip;q=0", False), ("identity", False), ("", False)],
)
def test_gzip_when_asked(serve: Serve, accepted: str, compressed: bool) -> None:
    answer, body = ask(serve(collect=lambda: TEXT), "/metrics", **{"Accept-Encoding": accepted})
    assert (answer.headers["Content-Encoding"] == "gzip") == compressed
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert (gzip.decompress(body) if compressed else body).decode() == TEXT


def test_connection_is_kept(serve: Serve) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", serve(collect=lambda: TEXT).address.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/metrics")
        assert connection.getresponse().read().decode() == TEXT
    connection.close()


def test_client_that_says_nothing_keeps_nobody_waiting(serve: Serve) -> None:
    server = serve(connections=4)
    silent = [socket.create_connection(("127.0.0.1", server.address.port), timeout=10) for _ in range(10)]
    for connection in silent[5:]:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x")
    assert ask(server, "/metrics")[0].status == 200
    assert silent[0].recv(1) == b""  # the oldest had to go
    for connection in silent:
        connection.close()


def test_client_that_is_silent_for_long_is_let_go(serve: Serve) -> None:
    with socket.create_connection(serve(patience_seconds=0.05).address, timeout=10) as connection:
        assert connection.recv(1) == b""


def test_client_that_goes_away_is_no_event(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(collect=lambda: "x" * 10_000_000)
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            connection.recv(10)
    assert ask(server, "/metric")[0].status == 404
    assert caplog.messages == []


def test_error_of_ours_is_logged(serve: Serve, caplog: pytest.LogCaptureFixture, poll: Callable[..., Any]) -> None:
    def broken() -> str:
        raise ValueError("broken")

    server = serve(collect=broken)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server, "/metrics")
    poll(lambda: "ValueError: broken" in caplog.text)
    assert ask(server, "/metric")[0].status == 404


def test_line_that_never_ends(serve: Serve) -> None:
    with socket.create_connection(("127.0.0.1", serve().address.port), timeout=10) as connection:
        connection.sendall(b"GET /" + b"a" * 70_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 414")


def test_empty_host_answers_on_both_protocols(serve: Serve) -> None:
    server = serve(host="")
    hosts = ["127.0.0.1", *(["::1"] if socket.has_dualstack_ipv6() else [])]
    for host in hosts:
        socket.create_connection((host, server.address.port), timeout=10).close()


def test_port_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EndpointError) as caught:
            Server(Address("127.0.0.1", port), Site("a", "1", {}))
    assert str(caught.value) == f"cannot listen (127.0.0.1:{port}): Address already in use"


def test_host_that_is_not_ours() -> None:
    with pytest.raises(EndpointError, match=r"cannot listen \(192\.0\.2\.1:9847\): Cannot assign"):
        Server(Address("192.0.2.1", 9847), Site("a", "1", {}))
