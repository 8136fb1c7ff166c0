"""Unix times as people read them: RFC 3339, UTC, milliseconds."""

from datetime import UTC, datetime

__all__ = ["format_instant", "parse_instant"]


def format_instant(time: float) -> str:
    """`2026-11-29T19:36:00.000Z`, rounded to the millisecond, which is what Prometheus keeps."""
    moment = datetime.fromtimestamp(round(time * 1000) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> float:
    """Unix seconds of an RFC 3339 time, which must have an offset or Z. ValueError says what is allowed."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{text!r} is not a time: write it with its offset, as in 2026-11-29T19:36:00Z")
    return moment.timestamp()
