"""What the daemon needs of a metrics store."""

from collections.abc import Iterator
from typing import Protocol

from sentinel.model.snapshot import Snapshot

__all__ = ["Source"]


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
