"""An answer cut into its series, without decoding them."""

from sentinel.errors import SourceError
from sentinel.source.prometheus_answer import Kind, decode

__all__ = ["cut_series"]

_RESULT = b'"result":[{"metric":'
_METRIC = b'{"metric":'
# It cannot stand within a label: there the quotes would be escaped.
_BETWEEN = b'},{"metric":'
_ENVELOPE_BYTES = 1024  # before the first series


def cut_series(
    body: bytes | bytearray, kind: Kind, last: bytes, where: str
) -> tuple[list[bytes], tuple[str, ...]] | None:
    """From its labels on, each series of an answer of this `kind`, and the warnings.

    `last` is how its last series ends. None where it is not written as Prometheus writes one.
    """
    start, end = body.find(_RESULT, 0, _ENVELOPE_BYTES) + len(_RESULT), body.rfind(last) + len(last)
    if start < len(_RESULT) or end <= start:
        return None
    try:
        warnings = decode(body[: start - len(_METRIC)] + body[end:], kind, where).warnings
    except SourceError:
        return None
    return bytes(body[start : end - 1]).split(_BETWEEN), warnings
