"""One Alertmanager: a thread that delivers to it, and a queue of one before it."""

import ssl
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Final

import httpx

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.errors import SentinelError
from sentinel.sink.interface import Delivery, Receipt
from sentinel.transport.credentials import authorization
from sentinel.transport.redaction import Redaction, one_line

__all__ = ["Replica"]

_PATH: Final = "/api/v2/alerts"
_ANSWER_BYTES: Final = 64 * 1024
_ERROR_CHARACTERS: Final = 300


class Replica:
    """Delivers in a thread of its own: one that is dead or slow costs neither the others nor the tick anything.

    Each delivery carries all alerts, so that the newest is the only one worth sending: while one is under way the next
    waits, and a newer one takes its place. One that goes on for longer than its timeouts, since a byte comes now and
    then, is cut off by the next. `report` is told of every outcome, in any thread.
    """

    def __init__(
        self,
        url: str,
        settings: AlertmanagerSettings,
        context: ssl.SSLContext,
        report: Callable[[Delivery], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._settings = settings
        self._report = report
        self._monotonic = monotonic
        self._timeout_seconds = settings.timeout.total_seconds()
        self._context = context
        self._client = self._new_client()  # of the delivery that is under way
        self._began = 0.0
        self._most_seconds = self._timeout_seconds
        self._turn = threading.Condition()
        self._waiting: Sequence[bytes] | None = None
        self._busy = False
        self._closed = False
        # A daemon thread: the end of the process does not wait for a replica that does not answer.
        self._worker = threading.Thread(target=self._work, name=f"alertmanager {url}", daemon=True)
        self._worker.start()

    def offer(self, bodies: Sequence[bytes]) -> None:
        """Deliver these when what is under way has ended; instead of what waits, if anything does."""
        with self._turn:
            superseded = self._waiting is not None
            self._waiting = bodies
            stuck = self._client if self._busy and self._monotonic() > self._began + self._most_seconds else None
            self._turn.notify_all()
        if stuck is not None:
            stuck.close()  # what is read or written next fails
        if superseded:
            self._report(Delivery(self._url, Receipt.SUPERSEDED, "the delivery before has not ended yet"))

    def settle(self, seconds: float) -> None:
        """Wait until nothing waits and nothing is under way, for that long at most."""
        with self._turn:
            self._turn.wait_for(lambda: self._waiting is None and not self._busy, seconds)

    def close(self) -> None:
        """Deliver nothing more. What is under way ends by itself."""
        with self._turn:
            self._closed = True
            self._waiting = None
            busy = self._busy
            self._turn.notify_all()
        if not busy:
            self._worker.join()

    def _work(self) -> None:
        while (bodies := self._next()) is not None:
            with self._client:
                delivery = self._deliver(bodies)
            # Told before it is over: who settles then knows the outcome.
            self._report(delivery)

    def _next(self) -> Sequence[bytes] | None:
        with self._turn:
            self._busy = False
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._closed or self._waiting is not None)
            bodies, self._waiting = self._waiting, None
            if bodies is not None:
                # Deliveries are further apart than connections are kept: each may have a client of its own.
                self._client, self._busy, self._began = self._new_client(), True, self._monotonic()
                self._most_seconds = (1 + len(bodies)) * self._timeout_seconds
            return bodies

    def _new_client(self) -> httpx.Client:
        return httpx.Client(
            verify=self._context,
            timeout=self._timeout_seconds,
            headers={"User-Agent": "nccl-sentinel", **self._settings.headers},
            # What is contacted, and every credential, stands in the configuration: no proxies, no ~/.netrc.
            trust_env=False,
        )

    def _deliver(self, bodies: Sequence[bytes]) -> Delivery:
        """All of them, up to the first that the replica does not answer or does not let in."""
        partial: Delivery | None = None
        for body in bodies:
            delivery = self._post(body)
            if delivery.receipt is Receipt.PARTIAL:
                partial = partial or delivery
            elif delivery.receipt is not Receipt.ACCEPTED:
                return delivery
        return partial or Delivery(self._url, Receipt.ACCEPTED)

    def _post(self, body: bytes) -> Delivery:
        redact = Redaction(None, self._settings.headers)
        try:
            credentials = authorization(self._settings)
            redact = Redaction(credentials, self._settings.headers)
            headers = {"Content-Type": "application/json"} | ({"Authorization": credentials} if credentials else {})
            deadline = self._monotonic() + self._timeout_seconds
            with self._client.stream("POST", f"{self._url}{_PATH}", content=body, headers=headers) as response:
                text = b"" if response.is_success else self._read(response, deadline)
        except SentinelError as error:
            return Delivery(self._url, Receipt.REFUSED, str(error))
        except Exception as error:
            why = one_line(redact(f"{type(error).__name__}: {error}".rstrip(": ")), _ERROR_CHARACTERS)
            return Delivery(self._url, Receipt.UNREACHABLE, why)
        if response.is_success:
            return Delivery(self._url, Receipt.ACCEPTED)
        # It may repeat what it was sent, and it may be a terminal that shows it.
        why = one_line(redact(text.decode(errors="replace")), _ERROR_CHARACTERS)
        # Alertmanager takes the valid ones of a batch, and answers 400 for the rest.
        receipt = Receipt.PARTIAL if response.status_code == HTTPStatus.BAD_REQUEST else Receipt.REFUSED
        return Delivery(self._url, receipt, f"HTTP {response.status_code}: {why}".rstrip(": "))

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """What it says, as far as it is worth reading: httpx's timeout is for each piece, not for all of them."""
        text = b""
        for piece in response.iter_bytes():
            text += piece
            if len(text) > _ANSWER_BYTES or self._monotonic() > deadline:
                break
        return text
