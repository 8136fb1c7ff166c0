"""The webhook receiver to which the demo's Alertmanager delivers."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # the standard one gives pydantic too little before Python 3.12

__all__ = ["DeliveredAlert", "WebhookReceiver"]


class DeliveredAlert(TypedDict):
    """One alert, as Alertmanager's webhook messages (version 4) write it."""

    status: Literal["firing", "resolved"]
    labels: dict[str, str]
    annotations: dict[str, str]
    startsAt: str
    endsAt: str
    generatorURL: str
    fingerprint: str


class _Delivery(TypedDict):
    alerts: list[DeliveredAlert]


_DELIVERY = TypeAdapter(_Delivery)
_MAX_BODY_BYTES = 1 << 20
_POLL_SECONDS = 0.05  # how soon `close` is noticed


class WebhookReceiver:
    """An HTTP server on a free loopback port that keeps every alert that is POSTed to it."""

    def __init__(self) -> None:
        self._alerts: list[tuple[float, DeliveredAlert]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where to deliver."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/alerts"

    def alerts(self) -> list[DeliveredAlert]:
        """Every alert so far, in the order of delivery; one that was delivered twice is there twice."""
        with self._lock:
            return [alert for _, alert in self._alerts]

    def delivered_at(self, status: str) -> float | None:
        """The Unix time at which the first alert with this status (`firing`, `resolved`) came."""
        with self._lock:
            return next((at for at, alert in self._alerts if alert["status"] == status), None)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _add(self, body: bytes) -> None:
        alerts = _DELIVERY.validate_json(body)["alerts"]
        with self._lock:
            self._alerts += [(time.time(), alert) for alert in alerts]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                if length > _MAX_BODY_BYTES:
                    self.send_error(413)
                    return
                try:
                    receiver._add(self.rfile.read(length))
                except ValidationError:
                    self.send_error(400)
                    return
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it)
                """Stay quiet: deliveries are shown by the demo."""

        return Handler
