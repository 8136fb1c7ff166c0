# SPDX-License-Identifier: Apache-2.0
"""The web server: /metrics, /-/healthy and a page for people who land on /."""

import gzip
import logging
import socket
import socketserver
import ssl
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from nccl_exporter import __version__
from nccl_exporter.address import Address
from nccl_exporter.errors import ExporterError
from nccl_exporter.web.access import Access
from nccl_exporter.web.tls import CertificateRefusedError, Tls

_log = logging.getLogger(__name__)

TEXT_FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"

# Connections at a time: one more, and the oldest has to go.
CONNECTIONS: Final = 32
# A client that neither sends nor takes a byte for this long is let go.
PATIENCE_SECONDS: Final = 10.0
HANDSHAKE_SECONDS: Final = 5.0

_PLAIN_TEXT_REFUSED: Final = (
    b"HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nThis is HTTPS: https:// is missing in the address.\n"
)

_LANDING: Final = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>nccl-exporter</title></head>
<body><h1>nccl-exporter {__version__}</h1>
<ul><li><a href="/metrics">Metrics</a></li><li><a href="/-/healthy">Health</a></li></ul></body></html>
"""


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves `collect()` to whom `access` lets in; each connection has a thread, and no client keeps another waiting.

    Raises ExporterError when the address cannot be listened on.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self,
        address: Address,
        collect: Callable[[], str],
        access: Access | None = None,
        connections: int = CONNECTIONS,
    ) -> None:
        self.collect = collect
        self.access = access or Access()
        self._most_connections = connections
        self._connections: list[socket.socket] = []
        self._connections_lock = threading.Lock()
        everywhere = not address.host
        host = address.host or ("::" if socket.has_dualstack_ipv6() else "0.0.0.0")  # noqa: S104
        self._dual_stack = everywhere and ":" in host
        try:
            found = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            self.address_family = found[0]
            super().__init__((host, address.port), _Handler)
        except OSError as error:
            raise ExporterError(
                "cannot listen",
                where=str(address),
                why=error.strerror or str(error),
                hint="Choose another address with --web.listen-address",
            ) from error
        self.address = Address(*self.socket.getsockname()[:2])

    def server_bind(self) -> None:
        """Bind; an address of everywhere takes IPv4 as well as IPv6."""
        if self._dual_stack:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def process_request(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object) -> None:
        """Give the connection a thread; the oldest one goes when there are too many."""
        assert isinstance(request, socket.socket)  # noqa: S101
        with self._connections_lock:
            if len(self._connections) >= self._most_connections:
                _hang_up(self._connections.pop(0))
            self._connections.append(request)
        super().process_request(request, client_address)

    def finish_request(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: Any) -> None:
        """What the connection's thread does: the handshake, if there is one, and the answers."""
        assert isinstance(request, socket.socket)  # noqa: S101
        tls = self.access.current().tls
        if tls is None:
            super().finish_request(request, client_address)
            return
        if not self._speaks(request):
            return
        with self._connections_lock:
            if request not in self._connections:
                return  # it had to go
            encrypted = tls.wrap(request)
            self._connections[self._connections.index(request)] = encrypted
        try:
            if self._shakes_hands(tls, encrypted, client_address):
                super().finish_request(encrypted, client_address)
        finally:
            self.shutdown_request(encrypted)

    def _speaks(self, request: socket.socket) -> bool:
        request.settimeout(HANDSHAKE_SECONDS)
        try:
            # Who says nothing and goes was only looking whether the port is open: kubelet, a load balancer.
            return bool(request.recv(1, socket.MSG_PEEK))
        except OSError:
            self.access.refuse("handshake")
            return False

    def _shakes_hands(self, tls: Tls, encrypted: ssl.SSLSocket, client_address: Any) -> bool:
        try:
            tls.handshake(encrypted, HANDSHAKE_SECONDS)
        except OSError as error:
            self.access.refuse("certificate" if _is_about_certificate(error) else "handshake")
            _log.debug("no handshake with %s: %s", client_address[0], error)
            if isinstance(error, ssl.SSLError) and error.reason == "HTTP_REQUEST":
                socket.socket.sendall(encrypted, _PLAIN_TEXT_REFUSED)
            return False
        return True

    def shutdown_request(self, request: "socket.socket | tuple[bytes, socket.socket]") -> None:
        """The connection is over."""
        with self._connections_lock:
            self._connections = [one for one in self._connections if one is not request]
        assert isinstance(request, socket.socket)  # noqa: S101
        _hang_up(request, socket.SHUT_WR)
        self.close_request(request)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """A client that went away is no event; anything else is an error of ours."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("a request from %s failed", client_address)


def _hang_up(connection: socket.socket, direction: int = socket.SHUT_RDWR) -> None:
    # Not SSLSocket.shutdown: that makes a plain socket of it, under the feet of the thread that uses it.
    try:
        socket.socket.shutdown(connection, direction)
    except OSError:
        return  # it went by itself


def _is_about_certificate(error: OSError) -> bool:
    if isinstance(error, ssl.SSLCertVerificationError | CertificateRefusedError):
        return True
    return isinstance(error, ssl.SSLError) and error.reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_SECONDS
    disable_nagle_algorithm = True
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"
    extra_headers: Mapping[str, str] = MappingProxyType({})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/metrics":
            self._answer(TEXT_FORMAT, self.server.collect())
        elif path == "/-/healthy":
            self._answer("text/plain; charset=utf-8", "nccl-exporter is healthy.\n")
        elif path == "/":
            self._answer("text/html; charset=utf-8", _LANDING)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def do_HEAD(self) -> None:
        self.do_GET()

    def parse_request(self) -> bool:
        """Whether there is something to answer: a GET or a HEAD of somebody who may ask."""
        if not super().parse_request():
            return False
        config = self.server.access.current()
        self.extra_headers = config.headers
        if config.rate_limit is not None and not config.rate_limit.allow():
            self.server.access.refuse("rate")
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS)
            return False
        if config.users is not None and not config.users.admit(self.headers.get("Authorization")):
            self.server.access.refuse("credentials")
            self._refuse(HTTPStatus.UNAUTHORIZED, ("WWW-Authenticate", 'Basic realm="nccl-exporter"'))
            return False
        if self.command not in {"GET", "HEAD"}:
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, ("Allow", "GET, HEAD"))
            return False
        return True

    def end_headers(self) -> None:
        """Headers of the configuration are on every answer."""
        for name, value in self.extra_headers.items():
            self.send_header(name, value)
        super().end_headers()

    def _refuse(self, status: HTTPStatus, *headers: tuple[str, str]) -> None:
        self.close_connection = True  # a body may follow that nobody reads
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, content_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        if len(body) > 1024:
            self.send_header("Vary", "Accept-Encoding")
            if _takes_gzip(self.headers.get("Accept-Encoding", "")):
                body = gzip.compress(body, compresslevel=1)
                self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """What the Server header says: not which Python this is."""
        return f"nccl-exporter/{__version__}"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """One scrape every few seconds is not worth a line."""


def _takes_gzip(accepted: str) -> bool:
    for offer in accepted.split(","):
        coding, *parameters = (part.strip().lower() for part in offer.split(";"))
        if coding == "gzip":
            return not any(one.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for one in parameters)
    return False
