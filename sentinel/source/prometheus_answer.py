"""From the bytes of an answer to its series, or to an error that says what is wrong with it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from sentinel.errors import SourceError
from sentinel.transport.redaction import one_line

__all__ = ["UNUSABLE", "Answer", "Kind", "Series", "decode"]

UNUSABLE = "cannot use Prometheus's answer"

Kind = Literal["vector", "matrix"]
Series = Mapping[str, Any]
"""`metric` (labels), and `value` ([time, text]) or `values` (a list of them)."""

_BLOCK_BYTES = 1 << 20
_MOST_WARNINGS = 20
_RESULT = b'"result":['
# Between two series, and nowhere else: inside a string the quote would be escaped.
_BETWEEN = b'},{"metric":'


@dataclass(frozen=True)
class Answer:
    """The `count` series of one answer, and what the server warned of.

    `series` can be gone through once, and decodes as it goes: as Python objects, a million series take a gigabyte, and
    the garbage collector walks over them again and again.
    """

    series: Iterator[Series]
    count: int
    warnings: tuple[str, ...] = ()


def decode(body: bytes | bytearray, kind: Kind, where: str) -> Answer:
    """The answer to an instant query (`vector`) or a range query (`matrix`).

    SourceError for anything else; for a fault within the series, while they are gone through.
    """
    start = body.find(_RESULT, 0, 1024) + len(_RESULT)
    last = body.rfind(_BETWEEN)
    if len(body) > 2 * _BLOCK_BYTES and start >= len(_RESULT) and last > start:
        end = _end_of_series(body, last + 2, where)
        _, warnings = _open(_loads(body[:start] + body[end:], where, len(body)), kind, where)
        return Answer(_blocks(body, start, end, where), body.count(_BETWEEN) + 1, warnings)
    series, warnings = _open(_loads(body, where, len(body)), kind, where)
    return Answer(iter(series), len(series), warnings)


def _blocks(body: bytes | bytearray, start: int, end: int, where: str) -> Iterator[Series]:
    while start < end:
        cut = body.find(_BETWEEN, start + _BLOCK_BYTES, end)
        stop = end if cut < 0 else cut + 1
        yield from _loads(b"[" + body[start:stop] + b"]", where, len(body))
        start = stop + 1


def _end_of_series(body: bytes | bytearray, start: int, where: str) -> int:
    """Where the series that begins at `start` ends."""
    text = body[start:].decode(errors="surrogateescape")
    try:
        _, length = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise _broken(where, len(body), error) from None
    return start + len(text[:length].encode(errors="surrogateescape"))


def _open(document: Any, kind: Kind, where: str) -> tuple[list[Series], tuple[str, ...]]:
    """The envelope."""
    if not isinstance(document, dict):
        raise _fault(where, "the answer is not a JSON object", "Is prometheus.url a Prometheus?")
    if document.get("status") != "success":
        why = f"{_said(document.get('errorType', 'status'))}: {_said(document.get('error', document.get('status')))}"
        raise _fault(where, why)
    data = document.get("data")
    found = data.get("resultType") if isinstance(data, dict) else None
    series = data.get("result") if isinstance(data, dict) else None
    if found != kind or not isinstance(series, list):
        raise _fault(where, f"expected a {kind}, found {_said(found)!r}")
    warnings = document.get("warnings") or ()
    if not isinstance(warnings, list | tuple):
        warnings = (warnings,)
    if document.get("isPartial") is True:  # so says VictoriaMetrics' cluster
        warnings = (*warnings, "a part of the store did not answer")
    return series, tuple(_said(warning) for warning in warnings[:_MOST_WARNINGS])


def _said(value: Any) -> str:
    """A text of the server's, as far as it can be shown; what should be one and is not is not spelt out."""
    return one_line(value) if isinstance(value, str) else "nothing" if value is None else f"a {type(value).__name__}"


def _loads(data: bytes | bytearray, where: str, length: int) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if data.lstrip().startswith((b"{", b"[")):
            raise _broken(where, length, error) from None
        start = one_line(data[:80].decode(errors="replace"))
        raise _fault(where, f"the answer is not JSON: {start!r}", "Is prometheus.url a Prometheus?") from None


def _broken(where: str, length: int, error: Exception) -> SourceError:
    return _fault(where, f"the answer is broken or cut off after {length} bytes ({error})")


def _fault(where: str, why: str, hint: str = "") -> SourceError:
    return SourceError(UNUSABLE, where=where, why=why, hint=hint)
