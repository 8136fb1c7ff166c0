"""A receiver of notifications."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Webhook:
    """Keeps every alert of every notification, in the order of arrival."""

    def __init__(self) -> None:
        self.alerts: list[dict[str, Any]] = []
        self.url = ""

    def find(self, status: str, **labels: str) -> list[dict[str, Any]]:
        """The alerts received with that status (firing, resolved) and those labels."""
        wanted = labels.items()
        return [alert for alert in self.alerts if alert["status"] == status and wanted <= alert["labels"].items()]


@contextmanager
def webhook() -> Iterator[Webhook]:
    """Listen on a free loopback port."""
    received = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.alerts.extend(json.loads(body)["alerts"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
