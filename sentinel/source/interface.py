"""What the daemon needs of a metrics store."""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Protocol

from sentinel.model.snapshot import Snapshot

__all__ = ["Scope", "Source"]


class Scope(Enum):
    """Which series are read; the tables of all others are empty."""

    ALL = auto()
    COLLECTIVES = auto()  # who is there, cells, and what was launched: all that lateness is measured from


class Source(Protocol):
    """A metrics store that can say what it knew at an instant.

    `snapshots(start, end, step)` gives the same snapshots as `snapshot(t)` for t = start, start + step, … ≤ end, in
    order. Times are Unix seconds. All snapshots of one source share one vocabulary.
    Both raise SourceError.
    """

    def snapshot(self, at: float) -> Snapshot:
        """What the store knew at the Unix time `at`."""
        ...

    def snapshots(self, start: float, end: float, step: float) -> Iterator[Snapshot]:
        """The same at every step of a range, read in as few queries as the store allows."""
        ...
