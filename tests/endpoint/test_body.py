# SPDX-License-Identifier: Apache-2.0
"""Pages that are told something: how much, how fast, by whom."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from nccl_endpoint.server import Server

Serve = Callable[..., Server]


def say(server: Server, head: str, body: bytes = b"") -> bytes:
    """All that is answered to these lines and this body, until the server hangs up."""
    with socket.create_connection(server.address, timeout=10) as connection:
        connection.sendall(f"POST /tell HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n".encode() + body)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_body_arrives(serve: Serve, told: Any) -> None:
    answer = say(serve(), "Content-Length: 3\r\nContent-Type: Application/JSON; charset=utf-8\r\n", b"abc")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    (request,) = told.requests
    assert (request.content_type, request.body) == ("application/json", b"abc")
    assert told.answers == [("/tell", 200)]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("", 411),
        ("Transfer-Encoding: chunked\r\n", 411),
        ("Content-Length: -1\r\n", 411),
        ("Content-Length: \u00b2\r\n", 411),
        ("Content-Length: 3\r\nContent-Length: 4\r\n", 411),
        ("Content-Length: 1001\r\n", 413),
        (f"Content-Length: {'9' * 5000}\r\n", 413),
    ],
)
def test_body_that_is_not_taken(serve: Serve, told: Any, head: str, status: int) -> None:
    assert say(serve(), head, b"x" * 3).startswith(f"HTTP/1.1 {status} ".encode())
    assert told.requests == []
    assert told.answers == [("/tell", status)]


def test_client_that_sends_far_too_much_still_reads_why(serve: Serve) -> None:
    assert say(serve(), "Content-Length: 500000\r\n", b"x" * 500_000).startswith(b"HTTP/1.1 413 ")


def test_body_of_a_refused_client_is_not_waited_for(serve: Serve, directory: object) -> None:
    server = serve(f'basic_auth_users: {{a: "$2b$04${"." * 53}"}}')
    answer = say(server, "Content-Length: 900\r\nExpect: 100-continue\r\n")
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"100 Continue" not in answer


def test_client_that_asks_before_it_sends_is_told_to_go_on(serve: Serve) -> None:
    answer = say(serve(), "Content-Length: 3\r\nExpect: 100-continue\r\n", b"abc")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_body_that_ends_early_is_not_taken(serve: Serve, told: Any) -> None:
    with socket.create_connection(serve().address, timeout=10) as connection:
        connection.sendall(b"POST /tell HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert told.requests == []


@pytest.mark.parametrize("said", [b"POST /tell HTTP/1.1\r\n", b"POST /tell HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc"])
def test_request_that_does_not_end_in_time_is_let_go(serve: Serve, told: Any, said: bytes) -> None:
    with socket.create_connection(serve(request_seconds=0.05).address, timeout=10) as connection:
        connection.sendall(said)
        assert connection.recv(100) == b""
    assert told.requests == []


def test_body_of_a_get_is_not_the_next_request(serve: Serve, told: Any) -> None:
    smuggled = b"POST /tell HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    with socket.create_connection(serve().address, timeout=10) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(smuggled) + smuggled)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 200") == 1
    assert told.requests == []


def test_what_may_be_done_with_a_page(serve: Serve) -> None:
    server = serve()
    with socket.create_connection(server.address, timeout=10) as connection:
        connection.sendall(b"GET /tell HTTP/1.1\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nAllow: POST\r\n" in answer
