"""One look at the daemon, for pipes and programs."""

import time
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from sentinel.top.answers import Ranking
from sentinel.top.client import DaemonClient
from sentinel.top.communicator import communicator_view
from sentinel.top.heading import now_of
from sentinel.top.layout import plain_text
from sentinel.top.overview import going_on
from sentinel.top.pages import page_view
from sentinel.top.place import Order, Page, PageKind
from sentinel.top.ranks import waits, worst_first
from sentinel.top.reader import Reader
from sentinel.top.seen import Seen, Wants

__all__ = ["read_once", "snapshot_document", "snapshot_text"]

_MOST_COMMUNICATORS: Final = 16
_MOST_RANKS: Final = 16


def read_once(client: DaemonClient) -> Seen:
    """Everything, with the rankings of the communicators that matter most. SourceError."""
    reader = Reader(client, time.monotonic)
    reader.look()
    reader.complete(Wants(_worst_communicators(reader.seen)))
    return reader.seen


def snapshot_text(seen: Seen, url: str) -> RenderableType:
    """The overview, and the worst ranks of communicators with incidents."""
    page, now = Page(PageKind.OVERVIEW), now_of(seen, seen.at)
    parts = [plain_text(page_view(page, Order.NEWEST, seen, url, seen.at, 0))]
    accused = {each.comm for each in going_on(seen).values()}
    for comm in _worst_communicators(seen):
        if comm in accused:
            parts += [Text(), plain_text(communicator_view(seen, comm, now, Order.NEWEST, _MOST_RANKS))]
    return Group(*parts)


def snapshot_document(seen: Seen, url: str) -> dict[str, Any]:
    """As JSON values."""
    return {
        "url": url,
        "status": seen.status.model_dump(mode="json") if seen.status else None,
        "incidents": seen.incidents.model_dump(mode="json")["incidents"] if seen.incidents else [],
        "incidents_fault": seen.incidents.fault if seen.incidents else "",
        "rankings": [_ranking_document(each, seen) for each in seen.rankings.values() if isinstance(each, Ranking)],
    }


def _ranking_document(ranking: Ranking, seen: Seen) -> dict[str, Any]:
    worst = worst_first(ranking, going_on(seen), Order.NEWEST)[:_MOST_RANKS]
    waiting = waits(ranking)
    return {
        "comm": ranking.comm,
        "fault": ranking.fault,
        "ranks_left_out": ranking.ranks_left_out + len(ranking.ranks) - len(worst),
        "ranks": [{**row.model_dump(mode="json"), "wait_newest_seconds": waiting.get(row.rank)} for row in worst],
    }


def _worst_communicators(seen: Seen) -> tuple[str, ...]:
    """Those of incidents that go on, then the largest of each job."""
    jobs = seen.status.jobs if seen.status else ()
    there = {each.comm for job in jobs for each in job.communicators}
    named = [each.comm for each in going_on(seen).values() if each.comm in there]
    most = range(_MOST_COMMUNICATORS)
    largest = [each.comm for place in most for job in jobs for each in job.communicators[place : place + 1]]
    return tuple(dict.fromkeys([*named, *largest]))[:_MOST_COMMUNICATORS]
