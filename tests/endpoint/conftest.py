# SPDX-License-Identifier: Apache-2.0
"""A directory with certificates, and servers that use a web configuration in it."""

import shutil
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from nccl_endpoint.access import Access
from nccl_endpoint.address import Address
from nccl_endpoint.limits import Limits
from nccl_endpoint.page import Answer, Request, Site
from nccl_endpoint.server import Server
from servers.authority import Authority
from servers.process import find_program, wait_until

TEXT = "# TYPE up gauge\nup 1\n"
CONTENT_TYPE = "text/plain; version=0.0.4"
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


class Told:
    """What was POSTed to /tell, and the answers that were given."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: list[tuple[str, int]] = []

    def take(self, request: Request) -> Answer:
        self.requests.append(request)
        return Answer("told\n")

    def note(self, path: str, status: int) -> None:
        self.answers.append((path, status))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def serve(tmp_path: Path, told: Told) -> Iterator[Callable[..., Server]]:
    """Starts a server, by default on a free port of 127.0.0.1. A web configuration stands beside the certificates."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(
        configuration: str | None = None,
        collect: Callable[[], str] = lambda: TEXT,
        host: str = "127.0.0.1",
        **limits: object,
    ) -> Server:
        site = Site(
            "a-program",
            "1.2",
            get={"/metrics": lambda _: Answer(collect(), CONTENT_TYPE)},
            post={"/tell": told.take},
            note=told.note,
        )
        access = Access()
        if configuration is not None:
            file = tmp_path / "web" / "web.yml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(configuration)
            access = Access(file)
        server = Server(Address(host, 0), site, access, Limits(body_bytes=1000, **limits))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
        server.hang_up()


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
def tls_with(directory: Path) -> Callable[[str], str]:
    """The configuration of a TLS server with more keys, each on a line of its own."""
    return lambda more="": TLS % "".join(f", {line}" for line in more.splitlines())


@pytest.fixture
def poll() -> Callable[[Callable[[], Any]], Any]:
    """Asks until the answer is true, and gives it."""

    def ask(condition: Callable[[], Any]) -> Any:
        answers: list[Any] = []
        wait_until(lambda: bool(answers.append(condition()) or answers[-1]), "an answer")
        return answers[-1]

    return ask


@pytest.fixture(scope="session")
def promtool() -> str:
    return find_program("promtool")
