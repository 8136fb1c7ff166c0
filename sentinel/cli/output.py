"""What commands print: JSON and tables on stdout, progress on stderr."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from sentinel.cli.plain_text import plain
from sentinel.daemon.replay import Progress as Report

__all__ = ["print_json", "print_table", "progress_bar"]

_ENDLESS = 10_000  # a table that is piped is not cut to a terminal's width


def print_json(document: Any) -> None:
    """One JSON document."""
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns under headers; columns of numbers are the caller's to format."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_ENDLESS)
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table)


@contextmanager
def progress_bar(label: str) -> Iterator[Report]:
    """A bar on stderr while a terminal watches, else nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
