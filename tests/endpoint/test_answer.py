# SPDX-License-Identifier: Apache-2.0
"""What a page is asked, and what of its answer reaches the client."""

import gzip
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
from nccl_endpoint.address import Address
from nccl_endpoint.page import Answer, Request, Site
from nccl_endpoint.server import Server

TEXT = "a page\n" * 1000
GZIPPED = gzip.compress(TEXT.encode(), compresslevel=9)


@pytest.fixture
def serve_page() -> Iterator[Callable[[Callable[[Request], Answer]], str]]:
    servers: list[Server] = []

    def serve(page: Callable[[Request], Answer]) -> str:
        server = Server(Address.parse("127.0.0.1:0"), Site("a-program", "1.2", get={"/page": page}))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
        return f"http://{server.address}/page"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def get(url: str, encoding: str = "identity") -> httpx.Response:
    return httpx.get(url, headers={"Accept-Encoding": encoding}, trust_env=False, timeout=10.0)


@pytest.mark.parametrize(("asked", "query"), [("", ""), ("?", ""), ("?a=1&b=%20", "a=1&b=%20"), ("?a#f", "a")])
def test_a_page_is_told_its_query(serve_page: Callable[..., str], asked: str, query: str) -> None:
    asked_for: list[Request] = []
    url = serve_page(lambda request: asked_for.append(request) or Answer("ok"))  # type: ignore[func-returns-value]
    assert get(url + asked).status_code == 200
    assert asked_for == [Request("", b"", query)]


def test_its_own_headers_are_sent(serve_page: Callable[..., str]) -> None:
    url = serve_page(lambda _: Answer("ok", headers=(("Cache-Control", "no-store"), ("X-Frame-Options", "deny"))))
    headers = get(url).headers
    assert (headers["Cache-Control"], headers["X-Frame-Options"]) == ("no-store", "deny")


def test_what_was_compressed_already_is_sent_as_it_is(serve_page: Callable[..., str]) -> None:
    url = serve_page(lambda _: Answer(TEXT, gzipped=GZIPPED))
    packed, plain = get(url, "gzip"), get(url)
    assert (packed.headers["Content-Encoding"], packed.headers["Content-Length"]) == ("gzip", str(len(GZIPPED)))
    assert packed.text == plain.text == TEXT
    assert "Content-Encoding" not in plain.headers
