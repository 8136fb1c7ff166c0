# SPDX-License-Identifier: Apache-2.0
"""More requests than a server is willing to answer."""

import socket
import time
from collections.abc import Callable

from nccl_endpoint.server import Server

Serve = Callable[..., Server]


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
