"""A reverse proxy that asks for credentials, speaks TLS when told to, and does to answers what it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from servers.tls import server_context


@dataclass(frozen=True)
class Passed:
    """What goes back to the client. `sent` may be less than the whole: the connection then ends."""

    status: int
    body: bytes
    sent: bytes | None = None


Fault = Callable[[Passed, threading.Event], Passed]
"""From what the server answered, and an event that is set when the proxy stops, to what the client is to get."""


class Proxy:
    """`fault` is what happens to every answer from now on; `token` is what clients have to show. `asked` counts."""

    def __init__(self) -> None:
        self.url = ""
        self.fault: Fault | None = None
        self.token: str | None = None
        self.asked = 0
        self.stopped = threading.Event()


def answers(status: int, body: bytes) -> Fault:
    """The server fails itself."""
    return lambda passed, stopped: Passed(status, body)


def takes(seconds: float) -> Fault:
    """Every answer takes that long."""

    def fault(passed: Passed, stopped: threading.Event) -> Passed:
        stopped.wait(seconds)
        return passed

    return fault


def truncated(passed: Passed, stopped: threading.Event) -> Passed:
    """The connection ends in the middle of the body."""
    return Passed(passed.status, passed.body, passed.body[: len(passed.body) // 2])


def cut_off(passed: Passed, stopped: threading.Event) -> Passed:
    """The body ends early, and its length says so: only who reads the JSON sees it."""
    return Passed(passed.status, passed.body[: len(passed.body) // 2])


def partial(passed: Passed, stopped: threading.Event) -> Passed:
    """As Thanos answers while a store of its own is away: half of the series, and a warning."""
    document = json.loads(passed.body)
    series = document["data"]["result"]
    document["data"]["result"] = series[: len(series) // 2]
    document["warnings"] = ["store away: receive series"]
    return Passed(passed.status, json.dumps(document).encode())


def empty(passed: Passed, stopped: threading.Event) -> Passed:
    """Nothing is scraped any more: no series, and no warning."""
    document = json.loads(passed.body)
    document["data"]["result"] = []
    return Passed(passed.status, json.dumps(document).encode())


@contextmanager
def proxy(upstream: str, *, tls: bool = False) -> Iterator[Proxy]:
    """Listen on a free loopback port, before the server at `upstream`."""
    served = Proxy()
    client = httpx.Client(base_url=upstream, trust_env=False, timeout=30.0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            served.asked += 1
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if served.token is not None and self.headers.get("Authorization") != f"Bearer {served.token}":
                self._answer(Passed(401, b"who are you?"))
                return
            try:
                reply = client.post(self.path, content=body, headers={"Content-Type": self.headers["Content-Type"]})
                passed = Passed(reply.status_code, reply.content)
            except httpx.TransportError:
                passed = Passed(502, b"nobody there")
            self._answer(served.fault(passed, served.stopped) if served.fault else passed)

        def _answer(self, passed: Passed) -> None:
            with suppress(OSError):  # the client may have given up
                self.send_response(passed.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(passed.body)))
                self.end_headers()
                self.wfile.write(passed.body if passed.sent is None else passed.sent)
            self.close_connection = self.close_connection or passed.sent is not None

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = server_context().wrap_socket(server.socket, server_side=True)
    served.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield served
    finally:
        served.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
        client.close()
