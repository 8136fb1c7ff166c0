"""Which page is made of what is known."""

from dataclasses import replace

from sentinel.top.communicator import communicator_view
from sentinel.top.heading import heading, now_of
from sentinel.top.help import help_view
from sentinel.top.overview import job_view, overview
from sentinel.top.place import Order, Page, PageKind
from sentinel.top.seen import Seen, Wants
from sentinel.top.story import story_view
from sentinel.top.view import Row, View

__all__ = ["page_view", "wants_of"]

_MARGIN = 3  # the mark of the chosen row, and a space on both sides


def page_view(page: Page, order: Order, seen: Seen, url: str, monotonic: float, width: int, again: str = "") -> View:
    """With what stands above every page."""
    view = _view(page, order, seen, now_of(seen, monotonic), width)
    return replace(view, heading=(*heading(seen, url, monotonic, again), *view.heading))


def wants_of(page: Page, visible: tuple[Row, ...]) -> Wants:
    """What the page needs, and the rows that are seen of it."""
    comms = [page.about[0]] if page.kind is PageKind.COMMUNICATOR else [row.comm for row in visible if row.comm]
    return Wants(tuple(dict.fromkeys(comms)), page.about[0] if page.kind is PageKind.INCIDENT else "")


def _view(page: Page, order: Order, seen: Seen, now: float, width: int) -> View:
    match page.kind:
        case PageKind.OVERVIEW:
            return overview(seen, now)
        case PageKind.JOB:
            return job_view(seen, page.about, now)
        case PageKind.COMMUNICATOR:
            return communicator_view(seen, page.about[0], now, order)
        case PageKind.INCIDENT:
            return story_view(seen, page.about[0], now, width - _MARGIN)
        case PageKind.HELP:
            return help_view()
