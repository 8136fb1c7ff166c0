"""Where somebody is: which page, and which row of it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from sentinel.top.keys import Key

__all__ = ["Choice", "Order", "Page", "PageKind", "Place", "chosen", "moved"]


class PageKind(Enum):
    """What a page is about."""

    OVERVIEW = "overview"
    JOB = "job"
    COMMUNICATOR = "communicator"
    INCIDENT = "incident"
    HELP = "help"


@dataclass(frozen=True)
class Page:
    """`about`: the id of a communicator or an incident; of a job its `job_id` and `job`."""

    kind: PageKind
    about: tuple[str, ...] = ()


class Order(Enum):
    """By what ranks are ordered, the worst first."""

    NEWEST = "lateness now"
    P95 = "P95 of lateness"
    WAIT = "waiting"


@dataclass(frozen=True)
class Choice:
    """A row that can be chosen. `key` tells it from the others, also when all is new; `opens` is behind it."""

    key: Hashable
    opens: Page | None = None


@dataclass(frozen=True)
class _Stop:
    """A page, and the row that is chosen there: its key, and where it was, for when it is gone."""

    page: Page
    key: Hashable = None
    index: int = 0


@dataclass(frozen=True)
class Place:
    """The page, and those that Esc leads back to."""

    order: Order = Order.NEWEST
    stops: tuple[_Stop, ...] = (_Stop(Page(PageKind.OVERVIEW)),)

    @property
    def page(self) -> Page:
        """What is shown."""
        return self.stops[-1].page


_ORDERS: Final = list(Order)


def chosen(place: Place, choices: Sequence[Choice]) -> int:
    """Which of them is chosen; 0 where there are none."""
    stop = place.stops[-1]
    found = next((index for index, each in enumerate(choices) if each.key == stop.key), stop.index)
    return max(0, min(found, len(choices) - 1))


def moved(place: Place, key: Key, choices: Sequence[Choice], page_rows: int) -> Place:
    """Where a key leads, from a page with these rows of which so many are seen at once."""
    here = chosen(place, choices)
    last = len(choices) - 1
    to = {
        Key.UP: here - 1,
        Key.DOWN: here + 1,
        Key.PAGE_UP: here - page_rows,
        Key.PAGE_DOWN: here + page_rows,
        Key.HOME: 0,
        Key.END: last,
    }.get(key)
    if to is not None and choices:
        index = max(0, min(to, last))
        stop = replace(place.stops[-1], key=choices[index].key, index=index)
        return replace(place, stops=(*place.stops[:-1], stop))
    if key is Key.OPEN and choices and (behind := choices[here].opens) is not None:
        left = replace(place.stops[-1], key=choices[here].key, index=here)
        # A page that one has come from is gone back to: the way back does not grow in circles.
        for depth, stop in enumerate(place.stops):
            if stop.page == behind:
                return replace(place, stops=place.stops[: depth + 1])
        return replace(place, stops=(*place.stops[:-1], left, _Stop(behind)))
    if key is Key.BACK and len(place.stops) > 1:
        return replace(place, stops=place.stops[:-1])
    if key is Key.HELP and place.page.kind is not PageKind.HELP:
        return replace(place, stops=(*place.stops, _Stop(Page(PageKind.HELP))))
    if key is Key.ORDER:
        return replace(place, order=_ORDERS[(_ORDERS.index(place.order) + 1) % len(_ORDERS)])
    return place
