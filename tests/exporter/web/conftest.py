# SPDX-License-Identifier: Apache-2.0
"""A directory with certificates, and servers that use a web configuration in it."""

import shutil
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from nccl_exporter.address import Address
from nccl_exporter.server import Server
from nccl_exporter.web.access import Access
from servers.authority import Authority

TEXT = "# TYPE up gauge\nup 1\n"
TLS = "tls_server_config: {cert_file: server.pem, key_file: server.key%s}\n"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """authority.pem, server.pem, client.pem and keys; the same of an authority that nobody knows in stranger/."""
    directory = tmp_path_factory.mktemp("certificates")
    authority = Authority(directory)
    authority.issue("server")
    authority.issue("client", "DNS:prometheus.example,IP:::1,URI:spiffe://example/prometheus")
    stranger = Authority(directory / "stranger")
    stranger.issue("server")
    stranger.issue("client", "DNS:prometheus.example")
    return directory


@pytest.fixture
def directory(certificates: Path, tmp_path: Path) -> Path:
    """A copy of the certificates that a test may change."""
    return Path(shutil.copytree(certificates, tmp_path / "web"))


@pytest.fixture
def serve(directory: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server with this web configuration, by default on a free port of 127.0.0.1."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(configuration: str, collect: Callable[[], str] = lambda: TEXT, connections: int = 32) -> Server:
        file = directory / "web.yml"
        file.write_text(configuration)
        server = Server(Address("127.0.0.1", 0), collect, Access(file), connections)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def client(directory: Path) -> Iterator[Callable[..., httpx.Client]]:
    """Makes HTTP clients that trust an authority and may show a certificate, both by name."""
    opened: list[httpx.Client] = []

    def make(server: Server, authority: str = "authority", certificate: str = "", **options: object) -> httpx.Client:
        context = ssl.create_default_context(cafile=directory / f"{authority}.pem")
        if certificate:
            context.load_cert_chain(directory / f"{certificate}.pem", directory / f"{certificate}.key")
        scheme = "https" if server.access.current().tls else "http"
        url = f"{scheme}://{server.address}"
        opened.append(httpx.Client(base_url=url, verify=context, trust_env=False, timeout=10.0, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def tls_with() -> Callable[[str], str]:
    """The configuration of a TLS server with more keys, each on a line of its own."""
    return lambda more="": TLS % "".join(f", {line}" for line in more.splitlines())
