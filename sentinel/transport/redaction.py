"""Secrets taken out of what others say: a server may repeat what it was sent."""

import base64
import binascii
from collections.abc import Iterator, Mapping

__all__ = ["Redaction", "one_line"]

_SHOWN = "<redacted>"
# A shorter one tells nothing apart from ordinary words.
_LEAST_SECRET = 4
_LEAST_HEADER = 8


class Redaction:
    """Knows what was sent with a request: its Authorization header, and headers of the configuration."""

    def __init__(self, authorization: str | None, headers: Mapping[str, str]) -> None:
        secrets = {each for each in _parts(authorization or "") if len(each) >= _LEAST_SECRET}
        secrets |= {value for value in headers.values() if len(value) >= _LEAST_HEADER}
        self._secrets = sorted(secrets, key=len, reverse=True)  # the whole before its parts

    def __call__(self, text: str) -> str:
        """The text without them."""
        for secret in self._secrets:
            text = text.replace(secret, _SHOWN)
        return text


def one_line(text: str, most: int = 300) -> str:
    """What can be printed of a text from elsewhere, in one line of at most so many characters."""
    # Cut before it is worked on: a text of megabytes is not worth it.
    plain = "".join(each if each.isprintable() else " " for each in text[: 4 * most])
    return " ".join(plain.split())[:most]


def _parts(authorization: str) -> Iterator[str]:
    scheme, _, secret = authorization.partition(" ")
    yield secret
    if scheme == "Basic":
        try:
            pair = base64.b64decode(secret, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair
        yield pair.partition(":")[2]
