"""Text that a training job wrote: believed only once it has been checked."""

import re
from functools import lru_cache

_NAME = re.compile(rb"[A-Za-z0-9_.:-]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@lru_cache(maxsize=4096)
def name(field: bytes) -> str | None:
    """The name of an operation, algorithm or protocol; None when it is empty or has any other than [A-Za-z0-9_.:-]."""
    text, end, _ = field.partition(b"\0")
    return text.decode("ascii") if end and _NAME.fullmatch(text) else None


@lru_cache(maxsize=4096)
def label(field: bytes) -> str | None:
    """Free text such as a host's name, up to its NUL; None when it is not UTF-8 or holds a control character.

    A last character that was cut by the end of the field is left out.
    """
    text = field.partition(b"\0")[0]
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
        decoded = text[: error.start].decode()
    return None if _CONTROL.search(decoded) else decoded


def escaped(value: str) -> str:
    """`value` as it stands between the quotes of a label in Prometheus' text format."""
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return value
