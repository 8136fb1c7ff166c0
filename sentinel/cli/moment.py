"""Times on the command line."""

import math
from collections.abc import Callable

from sentinel.errors import ConfigError
from sentinel.model.duration import parse_duration
from sentinel.model.instant import parse_instant

__all__ = ["parse_moment", "parse_range"]


def parse_moment(text: str, now: float) -> float:
    """Unix seconds of `now`, `7d` (back from now), `2026-11-29T19:36:00Z` or `1795975200`. ConfigError."""
    text = text.strip()
    if text == "now":
        return now
    for parse in (_ago(now), parse_instant, float):
        try:
            time = parse(text)
        except ValueError:
            continue
        if math.isfinite(time) and 0.0 <= time < 1e11:
            return time
    raise ConfigError(
        "not a time",
        where=text,
        why="write now, a duration back from now (7d, 90m), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds",
    )


def _ago(now: float) -> Callable[[str], float]:
    return lambda text: now - parse_duration(text).total_seconds()


def parse_range(start: str, end: str, now: float) -> tuple[float, float]:
    """Both ends; the first must be earlier. ConfigError."""
    first, last = parse_moment(start, now), parse_moment(end, now)
    if first >= last:
        raise ConfigError("wrong range", where=f"{start} to {end}", why="--from must be earlier than --to")
    return first, last
