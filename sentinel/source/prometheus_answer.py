"""From the bytes of an answer to its series, or to an error that says what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from sentinel.errors import SourceError

__all__ = ["Answer", "Series", "decode"]

Series = Mapping[str, Any]
"""`metric` (labels), and `value` ([time, text]) or `values` (a list of them)."""


@dataclass(frozen=True)
class Answer:
    """The series of one answer, and what the server warned of."""

    series: list[Series]
    warnings: tuple[str, ...]


def decode(body: bytes, kind: Literal["vector", "matrix"], url: str) -> Answer:
    """The answer to an instant query (`vector`) or a range query (`matrix`). SourceError for anything else."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if not body.lstrip().startswith(b"{"):
            start = " ".join(body[:80].decode(errors="replace").split())
            raise _fault(url, f"the answer is not JSON: {start!r}", "Is prometheus.url a Prometheus?") from None
        raise _fault(url, f"the answer is broken or cut off after {len(body)} bytes ({error})") from None
    if not isinstance(document, dict):
        raise _fault(url, "the answer is not a JSON object", "Is prometheus.url a Prometheus?")
    if document.get("status") != "success":
        why = f"{document.get('errorType', 'status')}: {document.get('error', document.get('status'))}"
        raise _fault(url, why[:300])
    data = document.get("data")
    found = data.get("resultType") if isinstance(data, dict) else None
    series = data.get("result") if isinstance(data, dict) else None
    if found != kind or not isinstance(series, list):
        raise _fault(url, f"expected a {kind}, found {found!r}")
    warnings = document.get("warnings") or ()
    if not isinstance(warnings, list | tuple):
        warnings = (warnings,)
    return Answer(series, tuple(str(warning) for warning in warnings))


def _fault(url: str, why: str, hint: str = "") -> SourceError:
    return SourceError("cannot use Prometheus's answer", where=url, why=why, hint=hint)
