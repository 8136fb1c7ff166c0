"""Requests to the query API: credentials, TLS, deadlines, retries; bytes out, or a SourceError."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException

import orjson
import requests
import stamina
import stamina.instrumentation
import urllib3
from prometheus_api_client import PrometheusConnect

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.transport.body import EncodedBodyError, LongBodyError, read_body, read_start
from sentinel.transport.cause import root_cause
from sentinel.transport.credentials import authorization
from sentinel.transport.deadline import DeadlineAdapter
from sentinel.transport.redaction import Redaction, one_line

__all__ = ["AnswerTooLargeError", "Observe", "PrometheusSession"]

Observe = Callable[[str, float], None]
"""Told of each request how it went (`ok`, `error`) and how many seconds it took, answer included."""

_ERROR_BYTES = 64 * 1024
_MOST_QUERY_CHARACTERS = 500
_RETRIED = {HTTPStatus.TOO_MANY_REQUESTS, *(status for status in HTTPStatus if status >= 500)}
_HINTS: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "Set prometheus.bearer_token_file, or username and password_file.",
    HTTPStatus.FORBIDDEN: "Check prometheus.bearer_token_file, or username and password_file, and prometheus.headers.",
    HTTPStatus.NOT_FOUND: "Does prometheus.url need a path prefix?",
    HTTPStatus.METHOD_NOT_ALLOWED: "Is prometheus.url a Prometheus? A proxy before it must allow POST to its query.",
}
# VictoriaMetrics otherwise moves the ends of a range to suit its cache; the others do not know it.
_EXACT: Mapping[str, str] = {"nocache": "1"}

_NO_TLS = "WRONG_VERSION_NUMBER"  # OpenSSL's words for an answer that is none of TLS

# Each attempt would be logged to standard error, amid what a command prints; the last one's error says it all.
stamina.instrumentation.set_on_retry_hooks(())


class AnswerTooLargeError(SourceError):
    """The server refuses to compute so much at once, or the answer is longer than what is read."""


class _Transient(Exception):  # noqa: N818 (never leaves this module)
    """An attempt failed in a way that another may not."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(str(error))
        self.error = error


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
        self._adapter = DeadlineAdapter(settings)  # after the library has mounted its own
        session.mount(self.url, self._adapter)
        session.mount(f"{self.url}/", self._adapter)
        self._settings = settings
        self._redaction = Redaction(None, settings.headers)
        self._monotonic = monotonic
        self._observe = observe

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def redact(self, text: str) -> str:
        """A text from the server, without the secrets that it was sent, in one line."""
        return one_line(self._redaction(text))

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
                    return self._observed(path, form, seconds)
        except _Transient as failure:
            raise failure.error from failure.error.__cause__
        raise AssertionError  # the loop returns or raises

    def where(self, path: str, form: Mapping[str, str]) -> str:
        """Which server was asked what."""
        query = form.get("query", "")
        more = "…" if len(query) > _MOST_QUERY_CHARACTERS else ""
        return f"{self.url}{path}, query {query[:_MOST_QUERY_CHARACTERS]}{more}"

    def _observed(self, path: str, form: Mapping[str, str], seconds: float) -> bytearray:
        began, outcome = self._monotonic(), "error"
        try:
            body = self._attempt(path, form, seconds)
            outcome = "ok"
        finally:
            if self._observe is not None:
                self._observe(outcome, self._monotonic() - began)
        return body

    def _attempt(self, path: str, form: Mapping[str, str], seconds: float) -> bytearray:
        where = self.where(path, form)
        credentials = authorization(self._settings)
        self._redaction = Redaction(credentials, self._settings.headers)
        headers = {"Authorization": credentials} if credentials else {}
        with self._adapter.within(seconds) as deadline:
            try:
                with (
                    self._faults(where),
                    self._session.post(
                        f"{self.url}{path}",
                        data={**form, **_EXACT},
                        headers=headers,
                        timeout=self._timeout,
                        stream=True,
                        allow_redirects=False,
                    ) as response,
                ):
                    body = self._read(response, where)
            except (SourceError, _Transient):
                # Cut off, it looks like a server that hung up.
                if deadline.passed:
                    raise _timed_out(where, self._settings) from None
                raise
            if deadline.passed:
                raise _timed_out(where, self._settings)
            return body

    def _read(self, response: requests.Response, where: str) -> bytearray:
        if response.status_code == HTTPStatus.OK:
            return read_body(response, int(self._settings.max_answer))
        try:
            text = self.redact(_server_text(read_start(response, _ERROR_BYTES)))
        except EncodedBodyError:
            text = ""
        raise _refused(response.status_code, text, where)

    @contextmanager
    def _faults(self, where: str) -> Iterator[None]:
        """What requests and urllib3 raise, as what it means."""
        what, settings = "cannot query Prometheus", self._settings
        try:
            yield
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            # Not tried again: a query that is too slow is so the second time, and the tick waits.
            raise _timed_out(where, settings) from error
        except (requests.exceptions.SSLError, urllib3.exceptions.SSLError) as error:
            why = self.redact(root_cause(error))
            raise SourceError(what, where=where, why=why, hint=_tls_hint(why)) from error
        except (requests.ConnectionError, urllib3.exceptions.ProtocolError) as error:
            failure = SourceError(
                what,
                where=where,
                why=self.redact(root_cause(error)),
                hint="Is it running, and is prometheus.url right?",
            )
            failure.__cause__ = error
            raise _Transient(failure) from error
        except LongBodyError:
            why = f"the answer is longer than {settings.max_answer.human_readable()}"
            raise AnswerTooLargeError(what, where=where, why=why, hint="Raise prometheus.max_answer.") from None
        except EncodedBodyError as error:
            hint = "A proxy before it must not compress what was asked for uncompressed."
            raise SourceError(what, where=where, why=self.redact(str(error)), hint=hint) from None
        # What is no HTTP at all comes out of the libraries as whatever they stumbled over.
        except (requests.RequestException, urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError) as error:
            raise SourceError(what, where=where, why=self.redact(root_cause(error))) from error


def _tls_hint(why: str) -> str:
    if _NO_TLS in why:
        return "No TLS is spoken there: is it http:// in prometheus.url?"
    return "Check prometheus.ca_file."


def _timed_out(where: str, settings: PrometheusSettings) -> SourceError:
    why = f"no whole answer within {settings.timeout.total_seconds():g} s"
    return SourceError(
        "cannot query Prometheus", where=where, why=why, hint="Raise prometheus.timeout, or narrow its selector."
    )


def _refused(status: int, text: str, where: str) -> Exception:
    if status == HTTPStatus.UNPROCESSABLE_ENTITY and "too many samples" in text:
        hint = "Narrow prometheus.selector, or raise the server's --query.max-samples."
        return AnswerTooLargeError("cannot query Prometheus", where=where, why=text, hint=hint)
    why = f"HTTP {status}: {text}" if text else f"HTTP {status}"
    hint = "It redirects: set prometheus.url to where." if 300 <= status < 400 else _HINTS.get(status, "")
    error = SourceError("cannot query Prometheus", where=where, why=why, hint=hint)
    return _Transient(error) if status in _RETRIED else error


def _server_text(body: bytes | bytearray) -> str:
    """Its reason, if it gives one as Prometheus does, else what it says."""
    try:
        document = orjson.loads(body)
        return f"{document['errorType']}: {document['error']}"
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return body.decode(errors="replace")
