"""Unix times as people read them: RFC 3339, UTC, milliseconds."""

import math
from datetime import UTC, datetime

__all__ = ["format_instant", "parse_instant"]

# The years 1 to 9999 in UTC: what `format_instant` can say.
_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0


def format_instant(time: float) -> str:
    """`2026-11-29T19:36:00.000Z`, rounded to the millisecond, which is what Prometheus keeps."""
    moment = datetime.fromtimestamp(round(time * 1000) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> float:
    """Unix seconds of an RFC 3339 time, which must have an offset or Z. ValueError says what is allowed."""
    try:
        moment = datetime.fromisoformat(text)
        time = moment.timestamp() if moment.tzinfo is not None else math.nan
    except (ValueError, OverflowError):
        time = math.nan
    if not _FIRST <= time <= _LAST:
        raise ValueError(f"{text!r} is not a time: write it with its offset, as in 2026-11-29T19:36:00Z")
    return time
