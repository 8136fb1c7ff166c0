"""The page that Alertmanager notifies: our own heartbeat comes back here, and alerts of others."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Final

import structlog
from nccl_endpoint.page import Answer, Request

from sentinel.web.context import Context
from sentinel.web.notification import NotificationError, NotifiedAlert, read_notification

__all__ = ["WEBHOOK_CODES", "WEBHOOK_PATH", "Webhook"]

_log = structlog.get_logger()

WEBHOOK_PATH: Final = "/webhook/alertmanager"
WEBHOOK_CODES: Final = (200, 400, 401, 405, 411, 413, 415, 429, 503)
"""Every status that a request for the webhook can be answered with."""


class Webhook:
    """Takes notifications, in many threads.

    `heartbeat` are labels of this daemon's own heartbeat that no other alert has all of. `own_names` are alert names of
    ours: what we said ourselves, or another daemon like us did, is no context.
    """

    def __init__(
        self, heartbeat: Mapping[str, str], own_names: Collection[str], context: Context, clock: Callable[[], float]
    ) -> None:
        self._heartbeat = heartbeat.items()
        self._own_names = own_names
        self._context = context
        self._clock = clock
        self._codes: Counter[int] = Counter()
        self._codes_lock = threading.Lock()
        self.heartbeat_received_at: float | None = None
        """Unix time."""

    def answer(self, request: Request) -> Answer:
        """200 when all was read; 400 with a reason when it is no notification, and nothing was taken then."""
        # A web page that a browser shows can send other kinds to this address, but not this one.
        if request.content_type != "application/json":
            return Answer("expected application/json\n", status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        try:
            alerts = read_notification(request.body)
        except NotificationError as error:
            _log.debug("notification refused", why=str(error))
            return Answer(f"{error}\n", status=HTTPStatus.BAD_REQUEST)
        now = self._clock()
        for alert in alerts:
            self._take(alert, now)
        return Answer("")

    def note(self, path: str, status: int) -> None:
        """Count an answer, if it was to a request for this page."""
        if path == WEBHOOK_PATH:
            with self._codes_lock:
                self._codes[status] += 1

    def codes(self) -> Counter[int]:
        """How many answers there were, by status."""
        with self._codes_lock:
            return self._codes.copy()

    def _take(self, alert: NotifiedAlert, now: float) -> None:
        if self._heartbeat <= alert.labels.items():
            if alert.firing:
                self.heartbeat_received_at = now
        elif alert.labels.get("alertname") not in self._own_names:
            self._context.take(alert, now)
