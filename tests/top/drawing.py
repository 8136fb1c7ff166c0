"""Pages as a terminal of some size shows them."""

import io

from rich.console import Console
from top.clusters import AT, URL

from sentinel.top.help import KEYS
from sentinel.top.layout import Drawn, fit, plain_text
from sentinel.top.pages import page_view
from sentinel.top.place import Order, Page, PageKind
from sentinel.top.seen import Seen

OVERVIEW = Page(PageKind.OVERVIEW)


def console(width: int, height: int = 24) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=height, markup=False, highlight=False, emoji=False, no_color=True
    )


def drawn(
    seen: Seen, page: Page = OVERVIEW, width: int = 80, height: int = 24, chosen: int = 0, order: Order = Order.NEWEST
) -> Drawn:
    return fit(page_view(page, order, seen, URL, AT, width, " Asked again."), chosen, KEYS, width, height)


def lines(
    seen: Seen, page: Page = OVERVIEW, width: int = 80, height: int = 24, chosen: int = 0, order: Order = Order.NEWEST
) -> list[str]:
    """As many as there are, not cut."""
    shown = console(width, height)
    shown.print(drawn(seen, page, width, height, chosen, order).renderable)
    return shown.file.getvalue().split("\n")[:-1]


def plain(seen: Seen) -> str:
    shown = console(10_000)
    shown.print(plain_text(page_view(OVERVIEW, Order.NEWEST, seen, URL, AT, 0)))
    return shown.file.getvalue()
