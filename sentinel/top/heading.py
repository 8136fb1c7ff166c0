"""What stands above every page: whom we ask, how new that is, and what is not well."""

from collections.abc import Iterator

from rich.text import Text

from sentinel.model.quantity import format_seconds
from sentinel.top.answers import Status
from sentinel.top.seen import Seen
from sentinel.top.words import age_text, clock_text

__all__ = ["heading", "now_of"]

_LOUD = "bold red"


def now_of(seen: Seen, monotonic: float) -> float:
    """The daemon's time now, Unix seconds; its clock need not be ours."""
    return seen.status.time + max(0.0, monotonic - seen.at) if seen.status else 0.0


def heading(seen: Seen, url: str, monotonic: float, again: str = "") -> tuple[Text, ...]:
    """`again` says when it is asked again where it does not answer."""
    return (_first(seen, url, monotonic), *(Text(fault, _LOUD) for fault in _faults(seen, monotonic, again)))


def _first(seen: Seen, url: str, monotonic: float) -> Text:
    text = Text.assemble(("sentinel top", "bold"), f"  {url}")
    if seen.status is None:
        return text if seen.fault else text.append("  asking the daemon")
    now, daemon = now_of(seen, monotonic), seen.status.daemon
    if daemon.last_tick is None:
        return text.append(f"  {clock_text(now)}  it has not looked yet")
    ago = age_text(now - daemon.last_tick)
    return text.append(f"  {clock_text(now)}  looked {ago} ago, every {format_seconds(daemon.tick_seconds)}")


def _faults(seen: Seen, monotonic: float, again: str) -> Iterator[str]:
    if seen.fault:
        old = f" What is shown is {age_text(monotonic - seen.at)} old." if seen.status else ""
        yield f"The daemon does not answer: {seen.fault}.{old}{again}"
    if seen.status is not None:
        yield from _said(seen.status)
    if seen.incidents is not None and seen.incidents.fault:
        yield f"Some incidents may be missing: {seen.incidents.fault}"


def _said(status: Status) -> Iterator[str]:
    if status.daemon.fault:
        yield f"The daemon is not well: {status.daemon.fault}"
    quality = status.quality
    if quality.partial:
        yield "The metrics store's answers may be partial."
    for warning in quality.warnings:
        yield f"The metrics store warns: {warning}"
    if quality.malformed_series:
        yield f"Malformed series that are left out: {quality.malformed_series}"
