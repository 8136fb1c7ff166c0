"""What is said of a long command's work when somebody stops it."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from sentinel.state.work_file import WorkFile

__all__ = ["told_when_stopped"]


@contextmanager
def told_when_stopped(work: WorkFile) -> Iterator[None]:
    """On Ctrl-C: that it was not for nothing, if it was not."""
    try:
        yield
    except KeyboardInterrupt:
        if work.pieces():
            typer.echo("Stopped. What is done is kept: the same command goes on from there.", err=True)
        raise
