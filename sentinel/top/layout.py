"""A page fitted to a terminal, and the same page as plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sentinel.top.view import Column, Row, Section, View

__all__ = ["Drawn", "fit", "plain_text"]

_MOST_HEADING: Final = 8  # lines: the rows are what people look for
_LEAST_ROOM: Final = 4  # a blank line, a title, the columns' titles, a row
_MARK: Final = Column("", 1)


@dataclass(frozen=True)
class Drawn:
    """What a terminal shows: exactly as many lines as it has. `page_rows`: how many rows a Page Down goes by."""

    renderable: RenderableType
    visible: tuple[Row, ...]
    page_rows: int


def fit(view: View, chosen: int, footer: str, width: int, height: int) -> Drawn:
    """`chosen` is one of `view.rows`, and is seen. Sections that need less than their share leave it to the others."""
    below = 1 if height > 1 else 0
    heading = view.heading[: max(1, min(_MOST_HEADING, height - _LEAST_ROOM - below))]
    room = max(0, height - len(heading) - below)
    sections = _worth_drawing(view.sections, chosen, room)
    heights = _heights([_wanted(each) for _, each in sections], room)
    parts: list[RenderableType] = [_line(text) for text in heading]
    visible: list[Row] = []
    page_rows = 1
    used = len(heading)
    for (first, section), lines in zip(sections, heights, strict=True):
        size = min(len(section.rows), max(0, lines - _overhead(section)))
        at = chosen - first
        start = max(0, min(at - size // 2, len(section.rows) - size)) if 0 <= at < len(section.rows) else 0
        shown = section.rows[start : start + size]
        if 0 <= at < len(section.rows):
            page_rows = max(1, size - 1)
        drawn = _section(section, shown, start, at, width)[:lines]
        parts += drawn
        used += sum(_lines(each) for each in drawn)
        visible += shown
    parts += [Text()] * max(0, height - used - below)
    parts += [_line(Text(footer, "dim"))] * below
    return Drawn(Group(*parts), tuple(visible), page_rows)


def plain_text(view: View) -> RenderableType:
    """All of it, as wide as it is."""
    parts: list[RenderableType] = list(view.heading)
    for section in view.sections:
        parts += [Text(), Text(section.title or section.empty)]
        if section.title and not section.rows and section.empty:
            parts.append(Text(section.empty))
        if section.rows:
            table = Table(box=None, pad_edge=False, show_edge=False)
            for column in section.columns:
                table.add_column(column.title, justify="right" if column.right else "left", overflow="fold")
            for row in section.rows:
                table.add_row(*row.cells)
            parts.append(table)
    return Group(*parts)


def _worth_drawing(sections: Sequence[Section], chosen: int, room: int) -> list[tuple[int, Section]]:
    """With the number of their first row; where there is no room for all, only the one with the chosen row."""
    found, first = [], 0
    for section in sections:
        found.append((first, section))
        first += len(section.rows)
    if sum(_overhead(each) + 1 for _, each in found) <= room:
        return found
    holding = [(at, each) for at, each in found if at <= chosen < at + len(each.rows)]
    return (holding or found)[:1]


def _overhead(section: Section) -> int:
    """Lines beside its rows: a blank one, its title, the columns' titles."""
    return 1 + bool(section.title) + (bool(section.rows) and not section.is_text)


def _wanted(section: Section) -> int:
    return _overhead(section) + (len(section.rows) or bool(section.empty))


def _heights(wanted: Sequence[int], room: int) -> list[int]:
    """Equal shares of the room; what one does not need the others get."""
    heights = [0] * len(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for place, index in enumerate(order):
        heights[index] = min(wanted[index], room // (len(order) - place))
        room -= heights[index]
    return heights


def _section(section: Section, shown: Sequence[Row], start: int, chosen: int, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = [Text()]
    if section.title:
        part = f" ({start + 1} to {start + len(shown)})" if shown and len(shown) < len(section.rows) else ""
        parts.append(_line(Text(f"{section.title}{part}", "bold")))
    if shown:
        parts.append(_table(section, shown, chosen - start, width))
    elif section.empty and not section.rows:
        parts.append(_line(Text(section.empty)))
    return parts


def _table(section: Section, shown: Sequence[Row], chosen: int, width: int) -> Table:
    kept = [at for at, column in enumerate(section.columns) if column.least <= width]
    table = Table(
        box=None, expand=True, pad_edge=False, show_edge=False, show_header=not section.is_text, padding=(0, 1, 0, 0)
    )
    for column in (_MARK, *(section.columns[at] for at in kept)):
        table.add_column(
            Text(column.title, "dim"),
            justify="right" if column.right else "left",
            width=column.width or None,
            ratio=None if column.width else 1,
            no_wrap=True,
            overflow="ellipsis",
        )
    for number, row in enumerate(shown):
        here = number == chosen
        style = "reverse" if here and not section.is_text else None
        table.add_row(Text(">" if here else ""), *(row.cells[at] for at in kept), style=style)
    return table


def _line(text: Text) -> Text:
    line = text.copy()
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _lines(part: RenderableType) -> int:
    return len(part.rows) + part.show_header if isinstance(part, Table) else 1
