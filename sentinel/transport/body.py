"""The body of an answer, as long as it may be and no longer."""

import requests

__all__ = ["BodyError", "EncodedBodyError", "LongBodyError", "read_body", "read_start"]

_CHUNK_BYTES = 1 << 20


class BodyError(Exception):
    """A body that is not read."""


class LongBodyError(BodyError):
    """It is longer than the limit."""


class EncodedBodyError(BodyError):
    """It is compressed, though we ask for what is not: a few bytes may stand for as many as they like."""


def read_body(response: requests.Response, most_bytes: int) -> bytearray:
    """All of it, from a response that is a stream. BodyError; else what urllib3 raises."""
    body = read_start(response, most_bytes)
    if len(body) > most_bytes:
        raise LongBodyError(f"the answer is longer than {most_bytes} bytes")
    return body


def read_start(response: requests.Response, most_bytes: int) -> bytearray:
    """As much of it, or a little more. EncodedBodyError; else what urllib3 raises."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        raise EncodedBodyError(f"the answer is encoded ({encoding[:20]!r}), and was asked for as it is")
    parts = bytearray()  # not joined at the end: a large answer is there once
    while len(parts) <= most_bytes and (chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False)):
        parts += chunk
    return parts
