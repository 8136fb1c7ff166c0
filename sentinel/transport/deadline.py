"""A deadline for a whole exchange: what httpx and requests call a timeout is for each piece of it, however small."""

import contextlib
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import Retry

from sentinel.config.access import AccessSettings
from sentinel.transport.credentials import tls_context

__all__ = ["Deadline", "DeadlineAdapter"]


class Deadline:
    """`passed` from when the exchange was cut off."""

    def __init__(self) -> None:
        self.passed = False


class _Twins:
    """A second handle on each socket, which another thread may shut down.

    The first one belongs to whoever reads, connection or response: closed and given away at any moment. A twin is kept
    until its connection is closed and the exchange is over: a response goes on with the socket of a closed connection.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._twins: dict[int, list[socket.socket]] = {}  # by connection
        self._over: list[socket.socket] = []
        self._is_cut = False

    def begin(self) -> None:
        with self._lock:
            self._is_cut = False

    def add(self, connection: object, opened: socket.socket) -> None:
        with self._lock:
            twins = self._twins.setdefault(id(connection), [])
            twins.append(opened.dup())
            if self._is_cut:  # while it was being opened
                opened.shutdown(socket.SHUT_RDWR)
        if len(twins) == 1:  # one that is dropped is as good as closed
            weakref.finalize(connection, self.closed, id(connection)).atexit = False

    def closed(self, connection: int) -> None:
        with self._lock:
            self._over += self._twins.pop(connection, [])

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            for twin in (*self._over, *(each for twins in self._twins.values() for each in twins)):
                with contextlib.suppress(OSError):  # not connected any more
                    twin.shutdown(socket.SHUT_RDWR)

    def release(self, *, everything: bool = False) -> None:
        with self._lock:
            over, self._over = self._over, []
            if everything:
                over += [twin for twins in self._twins.values() for twin in twins]
                self._twins.clear()
        for twin in over:
            twin.close()


def _watched(base: type[Any], twins: _Twins) -> type[Any]:
    """A kind of connection whose sockets have twins."""

    class Connection(base):  # type: ignore[misc]  # which of two it is, is known when it is called
        def _new_conn(self) -> socket.socket:
            opened: socket.socket = super()._new_conn()
            twins.add(self, opened)
            return opened

        def close(self) -> None:
            super().close()
            twins.closed(id(self))

    return Connection


class DeadlineAdapter(HTTPAdapter):
    """Verifies servers by our TLS context, shows them our certificate, and ends exchanges that last too long.

    For a session that is used in one thread: a deadline cuts all of its connections. ConfigError when a TLS file cannot
    be used.
    """

    def __init__(self, access: AccessSettings) -> None:
        self._access = access
        self._twins = _Twins()
        weakref.finalize(self, self._twins.release, everything=True).atexit = False
        super().__init__(max_retries=Retry(0, read=False))

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As requests calls it."""
        super().init_poolmanager(*args, ssl_context=tls_context(self._access), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {
            "http": type("Pool", (HTTPConnectionPool,), {"ConnectionCls": _watched(HTTPConnection, self._twins)}),
            "https": type("Pool", (HTTPSConnectionPool,), {"ConnectionCls": _watched(HTTPSConnection, self._twins)}),
        }

    def close(self) -> None:
        """Close all connections: urllib3 leaves that to the garbage collector, and the server to wait for it."""
        super().close()
        self._twins.cut()
        self._twins.release(everything=True)

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[Deadline]:
        """What is exchanged inside ends after so many seconds, as if the server had hung up: ask if it `passed`."""
        deadline = Deadline()

        def cut() -> None:
            deadline.passed = True
            self._twins.cut()

        self._twins.begin()
        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield deadline
        finally:
            timer.cancel()
            self._twins.release()
