"""A page before it is fitted to a terminal: lines, and tables whose rows can be chosen."""

from dataclasses import dataclass

from rich.text import Text

from sentinel.top.place import Choice

__all__ = ["Column", "Row", "Section", "View"]


@dataclass(frozen=True)
class Column:
    """`width` in cells; 0: what the others leave. It is left out where a terminal has fewer than `least` columns."""

    title: str
    width: int = 0
    right: bool = False
    least: int = 0


@dataclass(frozen=True)
class Row:
    """A cell for each column. `comm`: whose ranking it needs."""

    choice: Choice
    cells: tuple[Text, ...]
    comm: str = ""


@dataclass(frozen=True)
class Section:
    """A table under its title, or text (`columns` without titles). `empty` is said where there are no rows."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    empty: str = ""

    @property
    def is_text(self) -> bool:
        """Lines to read."""
        return not any(column.title for column in self.columns)


@dataclass(frozen=True)
class View:
    """A page."""

    heading: tuple[Text, ...]
    sections: tuple[Section, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All that can be chosen, in order."""
        return tuple(row for section in self.sections for row in section.rows)
