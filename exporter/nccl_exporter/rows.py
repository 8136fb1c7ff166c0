"""What is known of the rows of one table, in one generation of a communicator.

What a row counts never changes and its counts never fall. A row that says otherwise, or cannot be true, keeps what it
said before and is counted as rejected.
"""

from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import layout, table
from nccl_exporter.table import Flags, RowView, Table, Words

Values = NDArray[np.float64]

# A count past this has been written by something else than counting.
_LIMIT: Final = np.uint64(1 << 63)
_INFINITY_BITS: Final = np.uint64(0x7FF0_0000_0000_0000)
# ln of the longest duration that a word can hold, in microseconds, is below this.
_MOST_LOG: Final = 37.0

_OPERATIONS: Final = 0
_LOG: Final = layout.offset(layout.CELL_COUNTS, "log_microseconds") // 8
_BUCKETS: Final = layout.offset(layout.CELL_COUNTS, "buckets") // 8


class Rows:
    """`values` are the counts as numbers, a line for each row; `published` is what they were in the scrape before."""

    def __init__(self, rows: int, width: int) -> None:
        self.known: Flags = np.zeros(rows, np.bool_)
        self.values: Values = np.zeros((rows, width))
        self.published: Values = np.zeros((rows, width))

    def begin(self) -> None:
        """Start a scrape."""
        np.copyto(self.published, self.values)

    def raise_to(self, rows: NDArray[np.intp], counts: Values) -> None:
        """Take over new counts of rows."""
        self.values[rows] = np.maximum(self.values[rows], counts)


class TableRows(Rows):
    """The rows of a table in the mapped file."""

    def __init__(self, place: Table) -> None:
        super().__init__(place.rows, place.width)
        self._is_cells = place is table.CELLS
        self._identity: NDArray[Any] | None = None

    def update(self, view: RowView, opened: Flags, whole: Flags, rejected: Counter[str]) -> NDArray[np.intp]:
        """Take over what a look has found. Returns the rows that are seen for the first time, for `admit`."""
        _count(self.known & ~opened, rejected, "identity")
        ready = np.flatnonzero(opened & whole)
        if not ready.size:
            return ready
        if self._identity is None:
            self._identity = np.zeros_like(view.identity)
        counts = view.counts(ready)
        good = self._plausible(counts, rejected)
        known = self.known[ready]
        moved = known & good & np.not_equal(self._identity[ready], view.identity[ready])
        _count(moved, rejected, "identity")
        good &= ~moved
        values = self._as_values(counts)
        self.raise_to(ready[known & good], values[known & good])
        return ready[good & ~known]

    def admit(self, row: int, view: RowView) -> None:
        """Take a row that is seen for the first time, now that it is clear what it counts."""
        assert self._identity is not None  # noqa: S101
        self.known[row] = True
        self._identity[row] = view.identity[row]
        self.values[row] = self._as_values(view.counts(np.array([row])))[0]

    def _plausible(self, counts: Words, rejected: Counter[str]) -> Flags:
        good: Flags = np.all(counts < _LIMIT, axis=1)
        if self._is_cells:
            good &= counts[:, _BUCKETS:].sum(axis=1, dtype=np.uint64) == counts[:, _OPERATIONS]
        _count(np.logical_not(good), rejected, "count")
        if self._is_cells:
            logs = np.where(counts[:, _LOG] < _INFINITY_BITS, counts[:, _LOG], np.uint64(0)).view(np.float64)
            bad: Flags = (counts[:, _LOG] >= _INFINITY_BITS) | (logs > _MOST_LOG * counts[:, _OPERATIONS])
            bad &= good
            _count(bad, rejected, "log_sum")
            good &= ~bad
        return good

    def _as_values(self, counts: Words) -> Values:
        values = counts.astype(np.float64)
        if self._is_cells:
            values[:, _LOG] = np.ascontiguousarray(counts[:, _LOG]).view(np.float64)
        return values


class ChannelRows(Rows):
    """Channels, a row for each transport of each: plain words, known once they count something."""

    def __init__(self) -> None:
        super().__init__(layout.CHANNELS * len(layout.TRANSPORTS), 2)

    def update(self, channels: Words, rejected: Counter[str]) -> NDArray[np.intp]:
        """Take over what a look has found. Returns the rows that are seen for the first time."""
        counts = channels.transpose(0, 2, 1).reshape(-1, 2)  # by channel and transport: operations, duration
        bad: Flags = np.any(counts >= _LIMIT, axis=1)
        _count(bad, rejected, "count")
        used = np.flatnonzero((counts[:, 0] > 0) & ~bad)
        if not used.size:
            return used
        new = used[~self.known[used]]
        self.known[new] = True
        self.raise_to(used, counts[used].astype(np.float64))
        return new


def raised(kept: Words, words: Words, rejected: Counter[str]) -> Words:
    """Plain words that never fall; those that cannot be true stay as they were and are counted."""
    bad = words >= _LIMIT
    _count(bad, rejected, "count")
    answer: Words = np.where(bad, kept, np.maximum(kept, words))
    return answer


def _count(flags: Flags, rejected: Counter[str], reason: str) -> None:
    if flags.any():
        rejected[reason] += int(np.count_nonzero(flags))
