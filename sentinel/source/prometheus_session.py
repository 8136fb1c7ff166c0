"""Requests to the query API: credentials, TLS, deadlines, retries; bytes out, or a SourceError."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import orjson
import requests
import stamina
import stamina.instrumentation
import urllib3
from prometheus_api_client import PrometheusConnect
from requests.adapters import HTTPAdapter

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.transport.credentials import authorization, tls_context

__all__ = ["AnswerTooLargeError", "Observe", "PrometheusSession"]

Observe = Callable[[str, float], None]
"""Told of each request how it went (`ok`, `error`) and how many seconds it took, answer included."""

_CHUNK_BYTES = 1 << 20
_ERROR_BYTES = 64 * 1024
_RETRIED = {HTTPStatus.TOO_MANY_REQUESTS, *(status for status in HTTPStatus if status >= 500)}
_HINTS = {
    HTTPStatus.UNAUTHORIZED: "Set prometheus.bearer_token_file, or username and password_file.",
    HTTPStatus.FORBIDDEN: "Check prometheus.bearer_token_file, or username and password_file, and prometheus.headers.",
    HTTPStatus.NOT_FOUND: "Does prometheus.url need a path prefix?",
    HTTPStatus.METHOD_NOT_ALLOWED: "The server, or a proxy before it, must allow POST to its query API.",
}

# Each attempt would be logged to standard error, amid what a command prints; the last one's error says it all.
stamina.instrumentation.set_on_retry_hooks(())


class AnswerTooLargeError(SourceError):
    """The server refuses to compute so much at once, or the answer is longer than what is read."""


class _Transient(Exception):  # noqa: N818 (never leaves this module)
    """An attempt failed in a way that another may not."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(str(error))
        self.error = error


class _Adapter(HTTPAdapter):
    """Verifies servers by our TLS context, and shows them our certificate."""

    def __init__(self, settings: PrometheusSettings) -> None:
        self._settings = settings
        super().__init__(max_retries=urllib3.Retry(0, read=False))

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=tls_context(self._settings), **kwargs)


class PrometheusSession(PrometheusConnect):  # type: ignore[misc]  # the library has no types
    """prometheus-api-client's connection, with what it leaves out.

    Queries go as POST forms, not in the address, where large ones do not fit. Each has a deadline for the whole
    answer. Answers stay bytes: the caller decodes them, warnings included.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        monotonic: Callable[[], float] = time.monotonic,
        observe: Observe | None = None,
    ) -> None:
        session = requests.Session()
        # Everything that is contacted, and every credential, stands in the configuration: no proxies, no ~/.netrc.
        session.trust_env = False
        # Compressing a large answer costs both sides more than sending it through a data centre.
        session.headers.update({"Accept-Encoding": "identity", "User-Agent": "nccl-sentinel", **settings.headers})
        super().__init__(
            settings.url, session=session, timeout=settings.timeout.total_seconds(), retry=urllib3.Retry(0, read=False)
        )
        adapter = _Adapter(settings)  # after the library has mounted its own
        session.mount(self.url, adapter)
        session.mount(f"{self.url}/", adapter)
        self._settings = settings
        self._monotonic = monotonic
        self._observe = observe

    def post(self, path: str, form: Mapping[str, str]) -> bytearray:
        """The body of a successful answer. SourceError for everything else; transient failures are tried again."""
        seconds = self._settings.timeout.total_seconds()
        try:
            for attempt in stamina.retry_context(
                on=_Transient,
                attempts=self._settings.retries + 1,
                timeout=seconds,
                wait_initial=0.2,
                wait_max=2.0,
                wait_jitter=0.2,
            ):
                with attempt:
                    return self._observed(f"{self.url}{path}", form, seconds)
        except _Transient as failure:
            raise failure.error from failure.error.__cause__
        raise AssertionError  # the loop returns or raises

    def _observed(self, url: str, form: Mapping[str, str], seconds: float) -> bytearray:
        began, outcome = self._monotonic(), "error"
        try:
            body = self._attempt(url, form, began + seconds)
            outcome = "ok"
        finally:
            if self._observe is not None:
                self._observe(outcome, self._monotonic() - began)
        return body

    def _attempt(self, url: str, form: Mapping[str, str], deadline: float) -> bytearray:
        credentials = authorization(self._settings)
        headers = {"Authorization": credentials} if credentials else {}
        with (
            _faults(url, self._settings),
            self._session.post(
                url, data=form, headers=headers, timeout=self._timeout, stream=True, allow_redirects=False
            ) as response,
        ):
            if response.status_code == HTTPStatus.OK:
                return self._read(response, url, deadline)
            body = response.raw.read(_ERROR_BYTES, decode_content=True)
            raise _refused(response.status_code, body, url)

    def _read(self, response: requests.Response, url: str, deadline: float) -> bytearray:
        """A server that dribbles never trips a socket's timeout: the deadline is for the whole answer."""
        parts = bytearray()  # not joined at the end: a large answer is there once
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
            parts += chunk
            if len(parts) > self._settings.max_answer:
                why = f"the answer is longer than {self._settings.max_answer.human_readable()}"
                raise AnswerTooLargeError(
                    "cannot query Prometheus", where=url, why=why, hint="Raise prometheus.max_answer."
                )
            if self._monotonic() > deadline:
                raise _timed_out(url, self._settings)
        return parts


@contextmanager
def _faults(url: str, settings: PrometheusSettings) -> Iterator[None]:
    """What requests and urllib3 raise, as what it means."""
    what = "cannot query Prometheus"
    try:
        yield
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        # Not tried again: a query that is too slow is so the second time, and the tick waits.
        raise _timed_out(url, settings) from error
    except (requests.exceptions.SSLError, urllib3.exceptions.SSLError) as error:
        raise SourceError(what, where=url, why=_root(error), hint="Check prometheus.ca_file.") from error
    except (requests.ConnectionError, urllib3.exceptions.ProtocolError) as error:
        failure = SourceError(what, where=url, why=_root(error), hint="Is it running, and is prometheus.url right?")
        failure.__cause__ = error
        raise _Transient(failure) from error
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise SourceError(what, where=url, why=_root(error)) from error


def _timed_out(url: str, settings: PrometheusSettings) -> SourceError:
    why = f"no whole answer within {settings.timeout.total_seconds():g} s"
    return SourceError(
        "cannot query Prometheus", where=url, why=why, hint="Raise prometheus.timeout, or narrow its selector."
    )


def _refused(status: int, body: bytes, url: str) -> Exception:
    text = _server_text(body)
    if status == HTTPStatus.UNPROCESSABLE_ENTITY and "too many samples" in text:
        hint = "Narrow prometheus.selector, or raise the server's --query.max-samples."
        return AnswerTooLargeError("cannot query Prometheus", where=url, why=text, hint=hint)
    why = f"HTTP {status}: {text}" if text else f"HTTP {status}"
    hint = "It redirects: set prometheus.url to where." if 300 <= status < 400 else _HINTS.get(HTTPStatus(status), "")
    error = SourceError("cannot query Prometheus", where=url, why=why, hint=hint)
    return _Transient(error) if status in _RETRIED else error


def _server_text(body: bytes) -> str:
    try:
        document = orjson.loads(body)
        text = f"{document['errorType']}: {document['error']}"
    except (orjson.JSONDecodeError, TypeError, KeyError):
        text = " ".join(body.decode(errors="replace").split())
    return text[:300]


def _root(error: BaseException) -> str:
    """The innermost cause, in one line: what the operating system or OpenSSL said."""
    while True:
        reason = getattr(error, "reason", None)
        inner = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
        inner = inner or next((arg for arg in error.args if isinstance(arg, BaseException)), None)
        if inner is None:
            return getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        error = inner
