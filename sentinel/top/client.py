"""Questions to the daemon's API: a document comes back, or one error that says why not."""

from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import orjson
import requests
import urllib3
from pydantic import BaseModel, ValidationError

from sentinel.errors import SourceError
from sentinel.top.access import DaemonAccess
from sentinel.top.answers import Incidents, Ranking, Status, Story
from sentinel.transport.body import BodyError, read_body
from sentinel.transport.cause import root_cause
from sentinel.transport.credentials import authorization
from sentinel.transport.deadline import DeadlineAdapter
from sentinel.transport.redaction import Redaction, one_line

__all__ = ["DaemonClient", "RefusedError"]

Found = TypeVar("Found", bound=BaseModel)

_SECONDS: Final = 10.0  # a whole answer
_ANSWER_BYTES: Final = 32 << 20
_WHAT: Final = "cannot ask the daemon"
_HINTS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "Give --username and --password-file.",
    HTTPStatus.NOT_FOUND: "Is it the daemon that serves there?",
}


class RefusedError(SourceError):
    """The daemon answers that it cannot tell this: `said` is why. It may tell everything else."""

    def __init__(self, said: str, **places: str) -> None:
        self.said = said
        super().__init__(_WHAT, why=said, **places)


class DaemonClient:
    """For one thread. Reads the password at the start: it may come from a pipe. ConfigError where a file is bad."""

    def __init__(self, access: DaemonAccess) -> None:
        credentials = authorization(access)
        self.url = access.url
        self._redact = Redaction(credentials, {})
        self._session = requests.Session()
        # What is asked, and with which credentials, is said by options: no proxies, no ~/.netrc.
        self._session.trust_env = False
        self._session.headers.update({"Accept-Encoding": "identity", "User-Agent": "nccl-sentinel"})
        if credentials:
            self._session.headers["Authorization"] = credentials
        self._adapter = DeadlineAdapter(access)
        self._session.mount(access.url, self._adapter)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()

    def status(self) -> Status:
        """Of everything. SourceError."""
        return self._document(Status, "status")

    def incidents(self) -> Incidents:
        """Of the time that is kept. SourceError."""
        return self._document(Incidents, "incidents")

    def ranking(self, comm: str) -> Ranking:
        """The last hour's. SourceError; RefusedError where there is no such communicator."""
        return self._document(Ranking, "ranking", comm=comm, span="ticks")

    def incident(self, id_: str) -> Story:
        """All of one. SourceError; RefusedError where there is no such incident."""
        return self._document(Story, "incident", id=id_)

    def _document(self, kind: type[Found], name: str, **parameters: str) -> Found:
        where = f"{self.url}/api/v1/{name}"
        with self._adapter.within(_SECONDS) as deadline:
            try:
                body, status = self._exchange(where, parameters)
            except SourceError:
                if deadline.passed:
                    raise _late(where) from None
                raise
            if deadline.passed:
                raise _late(where)
        document = _decoded(body)
        if status != HTTPStatus.OK:
            raise self._refusal(status, document, body, where, known=bool(parameters))
        try:
            return kind.model_validate(document)
        except ValidationError as error:
            key = ".".join(map(str, error.errors()[0]["loc"]))
            why = f"its answer is not of the API that is known here: {one_line(key, 100) or 'no JSON object'}"
            raise SourceError(_WHAT, where=where, why=why, hint="Is it the daemon, and of this version?") from None

    def _exchange(self, where: str, parameters: dict[str, str]) -> tuple[bytearray, int]:
        try:
            with self._session.get(
                where, params=parameters, timeout=_SECONDS, stream=True, allow_redirects=False
            ) as response:
                return read_body(response, _ANSWER_BYTES), response.status_code
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise _late(where) from error
        except (requests.exceptions.SSLError, urllib3.exceptions.SSLError) as error:
            hint = "Check --ca-file, the name in --url, and --cert-file."
            raise SourceError(_WHAT, where=where, why=self._line(root_cause(error)), hint=hint) from error
        except (requests.ConnectionError, urllib3.exceptions.ProtocolError) as error:
            hint = "Does it run, and serve there? See --url."
            raise SourceError(_WHAT, where=where, why=self._line(root_cause(error)), hint=hint) from error
        # What is no HTTP at all comes out of the libraries as whatever they stumbled over.
        except (
            requests.RequestException, urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError, BodyError,
        ) as error:  # fmt: skip
            raise SourceError(_WHAT, where=where, why=self._line(root_cause(error))) from error

    def _refusal(self, status: int, document: Any, body: bytearray, where: str, *, known: bool) -> SourceError:
        said = document.get("error") if isinstance(document, dict) else None
        text = self._line(said if isinstance(said, str) else body.decode(errors="replace"))
        if isinstance(said, str) and known and status in (HTTPStatus.NOT_FOUND, HTTPStatus.BAD_GATEWAY):
            return RefusedError(text, where=where)
        why = f"HTTP {status}: {text}" if text else f"HTTP {status}"
        hint = "It redirects: set --url to where." if 300 <= status < 400 else _HINTS.get(status, "")
        return SourceError(_WHAT, where=where, why=why, hint=hint)

    def _line(self, text: str) -> str:
        return one_line(self._redact(text))


def _decoded(body: bytearray) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def _late(where: str) -> SourceError:
    return SourceError(_WHAT, where=where, why=f"no whole answer within {_SECONDS:g} s")
