"""Which of our alerts are silenced in Alertmanager, by whom and until when."""

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import requests
import urllib3
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # the standard one gives pydantic too little before Python 3.12

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.errors import SinkError
from sentinel.model.context import Silence
from sentinel.model.instant import parse_instant
from sentinel.transport.body import BodyError, read_body
from sentinel.transport.cause import root_cause
from sentinel.transport.credentials import authorization
from sentinel.transport.deadline import Deadline, DeadlineAdapter
from sentinel.transport.redaction import Redaction, one_line

__all__ = ["SilenceReader"]

_WHAT: Final = "cannot read silences"
_ANSWER_BYTES: Final = 8 << 20
_MOST_SILENCES: Final = 64
_MOST_OF_AN_INCIDENT: Final = 4
_SILENCE_ID: Final = re.compile(r"[0-9a-zA-Z-]{1,64}")


class _Status(TypedDict):
    silencedBy: list[str]


class _Alert(TypedDict):
    annotations: dict[str, str]
    status: _Status


class _Silence(TypedDict):
    createdBy: str
    comment: str
    endsAt: str


_ALERTS = TypeAdapter(list[_Alert])
_SILENCE = TypeAdapter(_Silence)


class SilenceReader:
    """Asks the replicas, one after the other until one answers: they tell each other of silences. For one thread."""

    def __init__(
        self,
        settings: AlertmanagerSettings,
        alert_names: Iterable[str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`alert_names` are those of our alerts. ConfigError when a TLS file cannot be used."""
        self._settings = settings
        names = "|".join(sorted(map(re.escape, alert_names)))
        # Those that are active are left out; what is left is silenced, inhibited or both.
        self._query = urlencode(
            {"active": "false", "silenced": "true", "inhibited": "true", "filter": f'alertname=~"{names}"'}
        )
        self._monotonic = monotonic
        self._session = requests.Session()
        # Everything that is contacted, and every credential, stands in the configuration: no proxies, no ~/.netrc.
        self._session.trust_env = False
        self._session.headers.update({"Accept-Encoding": "identity", "User-Agent": "nccl-sentinel", **settings.headers})
        self._adapter = DeadlineAdapter(settings)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, self._adapter)

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def read(self) -> Mapping[str, tuple[Silence, ...]]:
        """The silences of each incident that has any, by its id. SinkError when no replica gives an answer to use."""
        first: SinkError | None = None
        for url in self._settings.urls:
            try:
                return self._read(url)
            except SinkError as error:
                first = first or error
        if first is None:
            return {}
        raise first

    def _read(self, url: str) -> Mapping[str, tuple[Silence, ...]]:
        alerts: list[_Alert] = self._get(f"{url}/api/v2/alerts", _ALERTS, self._query)
        known: dict[str, Silence | None] = {}
        found: dict[str, dict[str, Silence]] = {}
        for alert in alerts:
            incident = alert["annotations"].get("incident", "")
            for id_ in alert["status"]["silencedBy"]:
                if not incident or not _SILENCE_ID.fullmatch(id_):
                    continue
                if id_ not in known:
                    known[id_] = self._silence(url, id_) if len(known) < _MOST_SILENCES else None
                silence, mine = known[id_], found.setdefault(incident, {})
                if silence is not None and len(mine) < _MOST_OF_AN_INCIDENT:
                    mine[id_] = silence
        return {incident: tuple(mine.values()) for incident, mine in found.items() if mine}

    def _silence(self, url: str, id_: str) -> Silence:
        where = f"{url}/api/v2/silence/{id_}"
        one: _Silence = self._get(where, _SILENCE)
        try:
            ends_at = parse_instant(one["endsAt"])
        except (ValueError, OverflowError):
            raise SinkError(_WHAT, where=where, why="endsAt is not a time") from None
        return Silence(id_, one_line(one["createdBy"], 100), one_line(one["comment"]), ends_at)

    def _get(self, where: str, form: TypeAdapter[Any], query: str = "") -> Any:
        credentials = authorization(self._settings)
        redact = Redaction(credentials, self._settings.headers)
        headers = {"Authorization": credentials} if credentials else {}
        seconds = self._settings.timeout.total_seconds()
        with (
            self._adapter.within(seconds) as deadline,
            _faults(where, deadline, seconds, redact),
            self._session.get(
                where, params=query, headers=headers, timeout=seconds, stream=True, allow_redirects=False
            ) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                raise SinkError(_WHAT, where=where, why=f"HTTP {response.status_code}")
            body = read_body(response, _ANSWER_BYTES)
            if deadline.passed:
                raise TimeoutError
        try:
            return form.validate_python(orjson.loads(body), strict=True)
        except orjson.JSONDecodeError:
            raise SinkError(_WHAT, where=where, why="the answer is not JSON") from None
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
            why = f"the answer is not what Alertmanager gives: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
            raise SinkError(_WHAT, where=where, why=why) from None


@contextlib.contextmanager
def _faults(where: str, deadline: Deadline, seconds: float, redact: Redaction) -> Iterator[None]:
    """Whatever the libraries stumble over, as what it means."""
    try:
        yield
    except (
        SinkError,
        BodyError,
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        HTTPException,
        OSError,
        ValueError,
    ) as error:
        if deadline.passed or isinstance(error, requests.Timeout | TimeoutError):
            raise SinkError(_WHAT, where=where, why=f"no whole answer within {seconds:g} s") from None
        if isinstance(error, SinkError):
            raise
        why = one_line(redact(root_cause(error)))
        raise SinkError(_WHAT, where=where, why=why) from error
