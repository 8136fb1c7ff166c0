# SPDX-License-Identifier: Apache-2.0
"""The web server: connections, and how many of them."""

import logging
import socket
import socketserver
import ssl
import sys
import threading
from typing import Any, Final

from nccl_endpoint.access import Access
from nccl_endpoint.address import Address
from nccl_endpoint.errors import EndpointError
from nccl_endpoint.handler import Handler
from nccl_endpoint.limits import Limits
from nccl_endpoint.page import Site
from nccl_endpoint.rate_limit import RateLimit
from nccl_endpoint.tls import CertificateRefusedError, Tls

__all__ = ["Server"]

_log = logging.getLogger(__name__)

_PLAIN_TEXT_REFUSED: Final = (
    b"HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nThis is HTTPS: https:// is missing in the address.\n"
)
# How many seconds' worth of requests may come at once.
_BURST_SECONDS: Final = 2.0


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves a site to whom `access` lets in; each connection has a thread, and no client keeps another waiting.

    Raises EndpointError when the address cannot be listened on.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self, address: Address, site: Site, access: Access | None = None, limits: Limits | None = None
    ) -> None:
        self.site = site
        self._stopping = threading.Event()
        self.configure(access or Access(), limits or Limits())
        self._connections: list[socket.socket] = []
        self._connections_lock = threading.Lock()
        everywhere = not address.host
        host = address.host or ("::" if socket.has_dualstack_ipv6() else "0.0.0.0")  # noqa: S104
        self._dual_stack = everywhere and ":" in host
        try:
            found = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            self.address_family = found[0]
            super().__init__((host, address.port), Handler)
        except OSError as error:
            raise EndpointError("cannot listen", where=str(address), why=error.strerror or str(error)) from error
        self.address = Address(*self.socket.getsockname()[:2])

    def configure(self, access: Access, limits: Limits) -> None:
        """Take others, for what comes from now on."""
        self.access = access
        self.limits = limits
        rate = limits.requests_per_second
        self.request_rate = RateLimit(1 / rate, max(1, round(rate * _BURST_SECONDS))) if rate else None
        self.rooms = {
            page: threading.Semaphore(limits.at_once) for page in (*self.site.get.values(), *self.site.post.values())
        }
        self._connection_rate = RateLimit(1 / rate, max(1, round(rate * _BURST_SECONDS))) if rate else None

    def server_bind(self) -> None:
        """Bind; an address of everywhere takes IPv4 as well as IPv6."""
        if self._dual_stack:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Take the next connection, when it is time for one: in a flood the others wait in the kernel, for nothing."""
        while (rate := self._connection_rate) is not None and not rate.allow():
            if self._stopping.wait(rate.interval_seconds):
                raise InterruptedError
        return super().get_request()

    def shutdown(self) -> None:
        """Serve no more, at once."""
        self._stopping.set()
        super().shutdown()

    def process_request(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object) -> None:
        """Give the connection a thread; the oldest one goes when there are too many."""
        assert isinstance(request, socket.socket)  # noqa: S101
        with self._connections_lock:
            if len(self._connections) >= self.limits.connections:
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
        request.settimeout(self.limits.handshake_seconds)
        try:
            # Who says nothing and goes was only looking whether the port is open: kubelet, a load balancer.
            return bool(request.recv(1, socket.MSG_PEEK))
        except OSError:
            self.access.refuse("handshake")
            return False

    def _shakes_hands(self, tls: Tls, encrypted: ssl.SSLSocket, client_address: Any) -> bool:
        try:
            tls.handshake(encrypted, self.limits.handshake_seconds)
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

    def hang_up(self) -> None:
        """End every connection, whatever it is in."""
        with self._connections_lock:
            for connection in self._connections:
                _hang_up(connection)

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
