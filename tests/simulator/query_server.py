"""A loopback port that answers Prometheus' query API with what somebody knows."""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs

import orjson

Form = Mapping[str, Sequence[str]]
Reply = tuple[HTTPStatus, bytes]


def refusal(kind: str, why: str) -> bytes:
    """As Prometheus says no."""
    return orjson.dumps({"status": "error", "errorType": kind, "error": why})


class QueryServer:
    """Serves while it is entered, a thread for each connection. `reply` gives status and body for a query's form."""

    def __init__(self, reply: Callable[[Form], Reply]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(reply))
        self._server.daemon_threads = True
        self._server.socket.setblocking(False)  # several processes may wait for the same connection: one gets it
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(reply: Callable[[Form], Reply]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are written one after the other

        def do_POST(self) -> None:
            status, body = reply(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            with contextlib.suppress(ConnectionError):  # whoever asked may have been killed
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr for each request."""

    return Handler
