# SPDX-License-Identifier: Apache-2.0
"""Connections under TLS, with real clients."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from nccl_endpoint.server import Server

Serve = Callable[..., Server]
Client = Callable[..., httpx.Client]
TlsWith = Callable[..., str]

MUTUAL = "client_auth_type: RequireAndVerifyClientCert\nclient_ca_file: authority.pem"


def test_client_that_trusts_the_authority(serve: Serve, client: Client, tls_with: TlsWith) -> None:
    answer = client(serve(tls_with())).get("/metrics")
    assert (answer.status_code, answer.text) == (200, "# TYPE up gauge\nup 1\n")


def test_client_that_does_not_know_the_authority(
    serve: Serve, client: Client, tls_with: TlsWith, poll: Callable[..., Any]
) -> None:
    server = serve(tls_with())
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        client(server, "stranger/authority").get("/metrics")
    poll(lambda: server.access.refused["handshake"] == 1)


def test_plain_http_is_told(serve: Serve, tls_with: TlsWith) -> None:
    answer = httpx.get(f"http://{serve(tls_with()).address}/metrics", trust_env=False)
    assert answer.status_code == 400
    assert "This is HTTPS" in answer.text


def test_connection_is_kept(serve: Serve, client: Client, tls_with: TlsWith) -> None:
    asked = client(serve(tls_with()))
    ports = {asked.get("/metrics").extensions["network_stream"].get_extra_info("client_addr") for _ in range(3)}
    assert len(ports) == 1


@pytest.mark.parametrize("size", [100_000, 5_000_000])
def test_large_page(serve: Serve, client: Client, tls_with: TlsWith, size: int) -> None:
    assert len(client(serve(tls_with(), lambda: "x" * size)).get("/metrics").content) == size


def test_client_certificate(serve: Serve, client: Client, tls_with: TlsWith) -> None:
    assert client(serve(tls_with(MUTUAL)), certificate="client").get("/metrics").status_code == 200


@pytest.mark.parametrize("certificate", ["", "stranger/client"])
def test_no_client_certificate_of_the_authority(
    serve: Serve, client: Client, tls_with: TlsWith, certificate: str, poll: Callable[..., Any]
) -> None:
    server = serve(tls_with(MUTUAL))
    with pytest.raises(httpx.TransportError):
        client(server, certificate=certificate).get("/metrics")
    poll(lambda: server.access.refused["certificate"] == 1)


@pytest.mark.parametrize(("certificate", "comes_in"), [("", True), ("client", True), ("stranger/client", False)])
def test_client_certificate_that_may_be_left_out(
    serve: Serve, client: Client, tls_with: TlsWith, certificate: str, comes_in: bool
) -> None:
    server = serve(tls_with(MUTUAL.replace("RequireAndVerifyClientCert", "VerifyClientCertIfGiven")))
    asked = client(server, certificate=certificate)
    if comes_in:
        assert asked.get("/metrics").status_code == 200
    else:
        with pytest.raises(httpx.TransportError):
            asked.get("/metrics")


@pytest.mark.parametrize("name", ["prometheus.example", "::1", "spiffe://example/prometheus"])
def test_name_that_is_allowed(serve: Serve, client: Client, tls_with: TlsWith, name: str) -> None:
    server = serve(tls_with(f"{MUTUAL}\nclient_allowed_sans: [somebody, '{name}']"))
    assert client(server, certificate="client").get("/metrics").status_code == 200


def test_name_that_is_not_allowed(serve: Serve, client: Client, tls_with: TlsWith, poll: Callable[..., Any]) -> None:
    server = serve(tls_with(f"{MUTUAL}\nclient_allowed_sans: [somebody, prometheus]"))
    with pytest.raises(httpx.TransportError):
        client(server, certificate="client").get("/metrics")
    poll(lambda: server.access.refused["certificate"] == 1)


@pytest.mark.parametrize(
    ("more", "ours", "agreed"),
    [
        ("", {}, "TLSv1.3"),
        ("max_version: TLS12", {}, "TLSv1.2"),
        ("", {"maximum_version": ssl.TLSVersion.TLSv1_2}, "TLSv1.2"),
        ("min_version: TLS13", {"maximum_version": ssl.TLSVersion.TLSv1_2}, None),
    ],
)
def test_version(
    serve: Serve, directory: Path, tls_with: TlsWith, more: str, ours: dict[str, Any], agreed: str | None
) -> None:
    context = ssl.create_default_context(cafile=directory / "authority.pem")
    for name, value in ours.items():
        setattr(context, name, value)
    host, port = serve(tls_with(more)).address
    with socket.create_connection((host, port), timeout=10) as plain:
        if agreed is None:
            with pytest.raises(ssl.SSLError):
                context.wrap_socket(plain, server_hostname=host)
        else:
            with context.wrap_socket(plain, server_hostname=host) as encrypted:
                assert encrypted.version() == agreed


def test_cipher_and_curve(serve: Serve, directory: Path, tls_with: TlsWith) -> None:
    context = ssl.create_default_context(cafile=directory / "authority.pem")
    wanted = "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\ncurve_preferences: [CurveP384]"
    host, port = serve(tls_with(f"max_version: TLS12\n{wanted}")).address
    with (
        socket.create_connection((host, port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as encrypted,
    ):
        assert encrypted.cipher() == ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2", 256)
    context.set_ecdh_curve("prime256v1")
    with socket.create_connection((host, port), timeout=10) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname=host)


def test_client_without_a_handshake_keeps_nobody_waiting(serve: Serve, client: Client, tls_with: TlsWith) -> None:
    server = serve(tls_with(), connections=4)
    silent = [socket.create_connection(server.address, timeout=10) for _ in range(10)]
    silent[-1].sendall(b"\x16\x03\x01")
    assert client(server).get("/metrics").status_code == 200
    assert silent[0].recv(1) == b""  # the oldest had to go
    for connection in silent:
        connection.close()


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01"])
def test_client_that_does_not_finish_its_handshake_is_let_go(serve: Serve, tls_with: TlsWith, said: bytes) -> None:
    server = serve(tls_with(), handshake_seconds=0.05)
    with socket.create_connection(server.address, timeout=10) as connection:
        connection.sendall(said)
        assert connection.recv(1) == b""
    assert server.access.refused["handshake"] == 1


def test_probe_of_the_port_is_no_event(serve: Serve, client: Client, tls_with: TlsWith) -> None:
    server = serve(tls_with())
    socket.create_connection(server.address, timeout=10).close()
    assert client(server).get("/metrics").status_code == 200
    assert server.access.refused.total() == 0


def test_one_connection_too_many_ends_the_oldest_under_tls(
    serve: Serve, client: Client, tls_with: TlsWith, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(tls_with(), connections=1)
    first, second = client(server), client(server)
    ports = [
        asked.get("/metrics").extensions["network_stream"].get_extra_info("client_addr")
        for asked in (first, second, first)
    ]
    assert len(set(ports)) == 3
    assert caplog.messages == []
