"""What commands print: JSON and tables on stdout, progress on stderr."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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

_SHORT_SECONDS = 2.0  # what does not take that long needs no line
_QUIET_SECONDS = 15.0  # between two lines
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
def progress_bar(label: str, monotonic: Callable[[], float] = time.monotonic) -> Iterator[Report]:
    """On stderr: a bar while a terminal watches, else a line now and then when it takes long."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(label, monotonic)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(label: str, monotonic: Callable[[], float]) -> Report:
    due_at = monotonic() + _SHORT_SECONDS

    def tell(done: int, total: int) -> None:
        nonlocal due_at
        now = monotonic()
        if now >= due_at:
            due_at = now + _QUIET_SECONDS
            typer.echo(f"{label}: {done} of {total} ({done / max(total, 1):.0%})", err=True)

    return tell
