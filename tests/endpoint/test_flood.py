# SPDX-License-Identifier: Apache-2.0
"""More requests than a server is willing to answer."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from nccl_endpoint.server import Server

Serve = Callable[..., Server]
Poll = Callable[[Callable[[], Any]], Any]


def test_kept_connection_is_told_that_it_is_too_many(serve: Serve) -> None:
    server = serve(requests_per_second=1.0)
    with socket.create_connection(server.address, timeout=10) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" * 50)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert (answer.count(b"HTTP/1.1 200"), answer.count(b"HTTP/1.1 429")) == (2, 1)
    assert server.access.refused["rate"] == 1


def test_connections_past_the_rate_wait_in_the_kernel(serve: Serve) -> None:
    server = serve(requests_per_second=100.0)
    began = time.monotonic()
    for _ in range(220):  # 200 at once, the rest at their rate
        with socket.create_connection(server.address, timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert connection.recv(20)
    assert time.monotonic() - began >= 0.15


def test_other_limits_hold_from_the_next_request_on(serve: Serve) -> None:
    server = serve(requests_per_second=1.0)
    server.configure(server.access, server.limits.__class__(body_bytes=5))
    with socket.create_connection(server.address, timeout=10) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" * 20 + b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 200") == 20


def test_a_page_that_takes_its_time_is_asked_by_few_at_once(serve: Serve, poll: Poll) -> None:
    """Neither threads nor bodies pile up, also where clients do not wait for their answers."""
    go_on = threading.Event()
    server = serve(collect=lambda: go_on.wait(30) and "up 1\n", connections=4, at_once=3)
    before = threading.active_count()
    try:
        for _ in range(20):
            with socket.create_connection(server.address, timeout=10) as connection:
                connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        poll(lambda: server.access.refused["busy"] == 17)
        poll(lambda: threading.active_count() <= before + 3)
        with socket.create_connection(server.address, timeout=10) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
            assert answer.startswith(b"HTTP/1.1 503")
            assert b"Retry-After: 1\r\n" in answer
        with socket.create_connection(server.address, timeout=10) as connection:  # another page
            connection.sendall(b"POST /tell HTTP/1.0\r\nContent-Length: 2\r\n\r\nab")
            assert b"".join(iter(lambda: connection.recv(65536), b"")).endswith(b"told\n")
    finally:
        go_on.set()
    with socket.create_connection(server.address, timeout=10) as connection:
        poll(lambda: threading.active_count() <= before + 1)
        connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b"".join(iter(lambda: connection.recv(65536), b"")).endswith(b"up 1\n")


def test_a_server_that_takes_few_stops_at_once(serve: Serve) -> None:
    server = serve(requests_per_second=0.001)
    waiting = [socket.create_connection(server.address, timeout=10) for _ in range(3)]
    began = time.monotonic()
    server.shutdown()
    assert time.monotonic() - began < 100
    for connection in waiting:
        connection.close()
