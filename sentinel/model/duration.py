"""Durations as people write them: `30s`, `5m`, `20us`."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

__all__ = ["Duration", "format_duration", "parse_duration"]

_UNITS = {
    "us": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_PART = re.compile(r"(\d+(?:\.\d+)?)(us|ms|[smhdw])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> timedelta:
    """`1h30m`, `2s`, `20us` to a timedelta. ValueError says what is allowed."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration: write a number and a unit, as in 500ms, 30s, 5m, 1h30m, 7d")
    return sum((float(number) * _UNITS[unit] for number, unit in _PART.findall(text)), timedelta())


def format_duration(value: timedelta) -> str:
    """The shortest text that parse_duration reads back to the same value."""
    rest = round(value / _UNITS["us"])
    text = ""
    for unit in ("w", "d", "h", "m", "s", "ms", "us"):
        size = round(_UNITS[unit] / _UNITS["us"])
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def _validate(value: Any) -> Any:
    # A number alone says no unit, and would be taken for seconds.
    return value if isinstance(value, timedelta) else parse_duration(str(value))


Duration = Annotated[timedelta, BeforeValidator(_validate), PlainSerializer(format_duration)]
