# SPDX-License-Identifier: Apache-2.0
"""One connection's requests and answers."""

import gzip
import io
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from nccl_endpoint.page import Answer, Page, Request
from nccl_endpoint.timed_reader import TimedReader

if TYPE_CHECKING:
    from nccl_endpoint.server import Server

__all__ = ["Handler"]

_GZIP_FROM_BYTES: Final = 1024
# What is still read of a body that is refused, so that the client reads the refusal instead of a reset.
_DRAIN_BYTES: Final = 1 << 20
_DRAIN_SECONDS: Final = 1.0


class Handler(BaseHTTPRequestHandler):
    """Asks the web configuration first, then the page."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"
    extra_headers: Mapping[str, str] = MappingProxyType({})
    route = ""
    query = ""

    def setup(self) -> None:
        """Read with deadlines."""
        super().setup()
        self.rfile.close()  # the connection itself stays open
        limits = self.server.limits
        self._reader = TimedReader(self.connection, limits.patience_seconds, limits.request_seconds)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        """A request and its answer; one that does not come in time ends the connection."""
        self._reader.next_request()
        self.route = self.query = ""
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Whether there is something to answer: what there is, asked by somebody who may."""
        if not super().parse_request():
            return False
        self.route, self.query = _route(self.path)
        access = self.server.access
        config = access.current()
        self.extra_headers = config.headers
        if not all(rate.allow() for rate in (config.rate_limit, self.server.request_rate) if rate is not None):
            access.refuse("rate")
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS)
            return False
        if config.users is not None and not config.users.admit(self.headers.get("Authorization")):
            access.refuse("credentials")
            self._refuse(HTTPStatus.UNAUTHORIZED, ("WWW-Authenticate", f'Basic realm="{self.server.site.name}"'))
            return False
        methods = self.server.site.methods(self.route) or ("GET", "HEAD")
        if self.command not in methods:
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, ("Allow", ", ".join(methods)))
            return False
        return True

    def handle_expect_100(self) -> bool:
        """Not yet: first it has to be clear that the body is wanted."""
        return True

    def do_GET(self) -> None:
        """A page."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # a body that nobody reads would be taken for the next request
        page, request = self.server.site.get.get(self.route), Request("", b"", self.query)
        if page is None:
            self._answer(self.server.site.missing(request))
        else:
            self._ask(page, request)

    def do_HEAD(self) -> None:
        """A page's headers."""
        self.do_GET()

    def do_POST(self) -> None:
        """A page that is told something."""
        body = self._body()
        if body is not None:
            content_type = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            self._ask(self.server.site.post[self.route], Request(content_type, body))

    def _ask(self, page: Page, request: Request) -> None:
        room = self.server.rooms[page]
        if not room.acquire(blocking=False):
            self.server.access.refuse("busy")
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, ("Retry-After", "1"))
            return
        try:
            answer = page(request)
        finally:
            room.release()
        self._answer(answer)

    def _body(self) -> bytes | None:
        length, *more = self.headers.get_all("Content-Length", [""])
        if more or "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
            return None
        # A longer number than this is too large, whatever it is.
        if len(length) > 18 or int(length) > self.server.limits.body_bytes:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return None
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True  # the client has gone in the middle of it
            return None
        return body

    def end_headers(self) -> None:
        """Headers of the configuration are on every answer."""
        for name, value in self.extra_headers.items():
            self.send_header(name, value)
        super().end_headers()

    def _refuse(self, status: HTTPStatus, *headers: tuple[str, str]) -> None:
        self.close_connection = True  # a body may follow that nobody reads
        self._write_soon()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()
        if self.command == "POST":
            self._drain()

    def _drain(self) -> None:
        until = time.monotonic() + _DRAIN_SECONDS
        rest = _DRAIN_BYTES
        self.connection.settimeout(_DRAIN_SECONDS)
        try:
            while rest > 0 and time.monotonic() < until and (data := self.connection.recv(min(rest, 1 << 16))):
                rest -= len(data)
        except OSError:
            return

    def _answer(self, answer: Answer) -> None:
        body = answer.text.encode()
        self._write_soon()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers:
            self.send_header(name, value)
        if len(body) > _GZIP_FROM_BYTES:
            self.send_header("Vary", "Accept-Encoding")
            if _takes_gzip(self.headers.get("Accept-Encoding", "")):
                body = answer.gzipped or gzip.compress(body, compresslevel=1)
                self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _write_soon(self) -> None:
        self.connection.settimeout(self.server.limits.patience_seconds)

    def send_response(self, code: int, message: str | None = None) -> None:
        """Every answer passes here."""
        self.server.site.note(self.route, int(code))
        super().send_response(code, message)

    def version_string(self) -> str:
        """What the Server header says: not which Python this is."""
        return f"{self.server.site.name}/{self.server.site.version}"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """One scrape every few seconds is not worth a line."""


def _route(target: str) -> tuple[str, str]:
    """Path and query."""
    try:
        parts = urlsplit(target)
    except ValueError:  # such as an address in brackets that is none
        return "", ""
    return parts.path, parts.query


def _takes_gzip(accepted: str) -> bool:
    for offer in accepted.split(","):
        coding, *parameters = (part.strip().lower() for part in offer.split(";"))
        if coding == "gzip":
            return not any(one.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for one in parameters)
    return False
