"""History, read from a source at the same instants as the live daemon looks at."""

from collections.abc import Callable, Iterator

from sentinel.daemon.instants import Instants
from sentinel.errors import SourceError
from sentinel.model.instant import format_instant
from sentinel.model.snapshot import Snapshot
from sentinel.source.interface import Source

__all__ = ["Progress", "instants_within", "no_history", "replay"]

Progress = Callable[[int, int], None]
"""Told of every instant: how many are done, of how many."""


def instants_within(instants: Instants, start: float, end: float) -> tuple[float, float]:
    """The first and the last instant from `start` to `end` (Unix seconds). SourceError where there is none."""
    first, last = instants.within(start, end)
    if first > last:
        why = f"no multiple of the tick ({instants.tick_seconds:g} s) lies in it"
        raise SourceError("nothing to read", where=_range(start, end), why=why, hint="Choose a longer range.")
    return first, last


def no_history(start: float, end: float) -> SourceError:
    """What to say of a range (Unix seconds) without a series of ours: an empty history is not a healthy one."""
    return SourceError(
        "no history",
        where=_range(start, end),
        why="Prometheus has no nccl_ series in that time",
        hint="Is nccl-exporter scraped, and does prometheus.selector match it? NVIDIA Inspector's metrics need "
        'prometheus.dialect = "inspector".',
    )


def replay(
    source: Source, instants: Instants, start: float, end: float, progress: Progress, before: int = 0
) -> Iterator[Snapshot]:
    """Every snapshot from `start` to `end` (Unix seconds), after `before` further ones.

    SourceError when the whole range holds no series of ours.
    """
    first, last = instants_within(instants, start, end)
    first = instants.after(first, -before)
    total = instants.between(first, last) + 1
    found = False
    for done, snapshot in enumerate(source.snapshots(first, last, instants.tick_seconds), start=1):
        found = found or bool(len(snapshot.cells.rank) or len(snapshot.communicators.rank))
        progress(done, total)
        yield snapshot
    if not found:
        raise no_history(start, end)


def _range(start: float, end: float) -> str:
    return f"{format_instant(start)} to {format_instant(end)}"
