"""Alertmanager, all of its replicas."""

import queue
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Self

import httpx
import orjson

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.errors import SentinelError
from sentinel.sink.alert import Alert
from sentinel.sink.interface import Delivery, Receipt
from sentinel.transport.credentials import authorization, tls_context

__all__ = ["AlertmanagerSink"]

_PATH = "/api/v2/alerts"
_ERROR_CHARACTERS = 300


class AlertmanagerSink:
    """A `Sink`. One worker a replica, so that a dead one costs neither the others nor the tick more than the timeout.

    A replica is given one delivery at a time. While it is still occupied with the last, the next is not queued behind
    it: every delivery carries all alerts, so the tick after brings what this one would have.
    """

    def __init__(self, settings: AlertmanagerSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._timeout_seconds = settings.timeout.total_seconds()
        self._monotonic = monotonic
        context = tls_context(settings)
        self._replicas = [_Replica(url, settings, context) for url in settings.urls]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the workers; one that is in a request ends with it."""
        for replica in self._replicas:
            replica.stop()

    def send(self, alerts: Sequence[Alert]) -> tuple[Delivery, ...]:
        """Send to all replicas at once; wait no longer than the timeout for all of them together."""
        body = orjson.dumps([alert.document() for alert in alerts])
        tickets = [replica.offer(body) for replica in self._replicas]
        deadline = self._monotonic() + self._timeout_seconds
        return tuple(
            _Ticket.result(ticket, replica, max(0.0, deadline - self._monotonic()))
            for ticket, replica in zip(tickets, self._replicas, strict=True)
        )


class _Ticket:
    """A delivery that is under way."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._done = threading.Event()
        self._delivery: Delivery | None = None

    def fulfil(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._done.set()

    @staticmethod
    def result(ticket: "_Ticket | None", replica: "_Replica", seconds: float) -> Delivery:
        if ticket is None:
            return Delivery(replica.url, Receipt.BUSY, "the delivery before has not ended yet")
        if not ticket._done.wait(seconds) or ticket._delivery is None:  # noqa: SLF001 (its own class)
            return Delivery(replica.url, Receipt.UNREACHABLE, "no answer in time")
        return ticket._delivery  # noqa: SLF001


class _Replica:
    def __init__(self, url: str, settings: AlertmanagerSettings, context: ssl.SSLContext) -> None:
        self.url = url
        self._settings = settings
        self._idle = threading.Semaphore(1)
        self._tickets: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self._client = httpx.Client(
            verify=context,
            timeout=settings.timeout.total_seconds(),
            headers={"User-Agent": "nccl-sentinel", **settings.headers},
            # What is contacted, and every credential, stands in the configuration: no proxies, no ~/.netrc.
            trust_env=False,
        )
        # A daemon thread: the end of the process does not wait for a replica that does not answer.
        self._worker = threading.Thread(target=self._work, name=f"alertmanager {url}", daemon=True)
        self._worker.start()

    def offer(self, body: bytes) -> _Ticket | None:
        if not self._idle.acquire(blocking=False):
            return None
        ticket = _Ticket(body)
        self._tickets.put(ticket)
        return ticket

    def stop(self) -> None:
        self._tickets.put(None)
        if self._idle.acquire(blocking=False):
            self._worker.join()

    def _work(self) -> None:
        while (ticket := self._tickets.get()) is not None:
            try:
                ticket.fulfil(self._deliver(ticket.body))
            finally:
                self._idle.release()
        self._client.close()

    def _deliver(self, body: bytes) -> Delivery:
        try:
            credentials = authorization(self._settings)
            headers = {"Content-Type": "application/json"} | ({"Authorization": credentials} if credentials else {})
            response = self._client.post(f"{self.url}{_PATH}", content=body, headers=headers)
        except SentinelError as error:
            return Delivery(self.url, Receipt.REFUSED, str(error))
        except httpx.HTTPError as error:
            return Delivery(self.url, Receipt.UNREACHABLE, f"{type(error).__name__}: {error}".rstrip(": "))
        if response.is_success:
            return Delivery(self.url, Receipt.ACCEPTED)
        text = " ".join(response.text.split())[:_ERROR_CHARACTERS]
        # Alertmanager takes the valid ones of a batch, and answers 400 for the rest.
        receipt = Receipt.PARTIAL if response.status_code == HTTPStatus.BAD_REQUEST else Receipt.REFUSED
        return Delivery(self.url, receipt, f"HTTP {response.status_code}: {text}")
