"""A consistent copy of one communicator's counters, taken while the process writes them.

Rows (operations and cells) carry a sequence that is odd while they change. The block is copied three times, one after
the other: a row of the middle copy is whole when the first and the last copy show the same even sequence. Rows that
changed meanwhile are copied again one by one, a bounded number of times.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import layout
from nccl_exporter.layout import SlotState
from nccl_exporter.record import Buffer, Records

_BLOCK_ATTEMPTS: Final = 4
_ROW_ATTEMPTS: Final = 32
# For one file in one scrape: a file whose rows are all odd must not hold up the others.
_FILE_ATTEMPTS: Final = 1024

_SEQUENCE: Final = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class _Rows:
    """One of the two arrays of rows in the block: its field, its place, and its rows' sequence."""

    field: str
    offset: int
    dtype: "np.dtype[Any]"

    @property
    def sequence_at(self) -> int:
        assert self.dtype.fields is not None  # noqa: S101
        return int(self.dtype.fields["sequence"][1])


_ROWS: Final = (
    _Rows("operations", layout.OPERATIONS_OFFSET, layout.OPERATION),
    _Rows("cells", layout.CELLS_OFFSET, layout.CELL),
)


class Snapshots:
    """Takes snapshots of the communicators of one process and remembers the last one of each.

    A row that stays torn keeps its last good values, or is left out (its state is FREE) when there are none.
    `torn` counts such rows over the whole life of this object.
    """

    def __init__(self) -> None:
        self._before, self._after = Buffer(layout.COUNTERS), Buffer(layout.COUNTERS)
        self._last: dict[int, Records] = {}
        self._attempts = 0
        self.torn = 0

    def begin(self) -> None:
        """Start a scrape."""
        self._attempts = _FILE_ATTEMPTS

    def forget(self, slot: int) -> None:
        """The slot holds no communicator now."""
        self._last.pop(slot, None)

    def take(self, descriptor: int, slot: int) -> Records | None:
        """Copy communicator `slot`: one record of type COUNTERS, or None when the slot is not in use.

        Raises SourceError when the file is cut.
        """
        start = layout.communicator_offset(slot)
        before, middle, after = self._before, Buffer(layout.COUNTERS), self._after
        for _ in range(_BLOCK_ATTEMPTS):
            for copy in (before, middle, after):
                copy.fill(descriptor, start)
            if _same_tenant(before.records, after.records):
                break
        else:
            self.forget(slot)
            return None
        last = self._last.get(slot)
        if last is not None and last["generation"][0] != middle.records["generation"][0]:
            last = None
        for rows in _ROWS:
            first, whole, final = (copy.records[rows.field][0] for copy in (before, middle, after))
            whole["state"] = first["state"]  # a row that was opened since may not be complete in the middle copy
            for index in np.flatnonzero(_torn(first, final)).tolist():
                self._mend(descriptor, start + rows.offset, rows, index, whole, last)
        self._last[slot] = middle.records
        return middle.records

    def _mend(self, descriptor: int, start: int, rows: _Rows, index: int, whole: Records, last: Records | None) -> None:
        offset = start + index * rows.dtype.itemsize
        row = self._settled(descriptor, offset, rows)
        if row is not None:
            whole[index] = row
            return
        self.torn += 1
        if last is None or last[rows.field][0][index]["state"] != layout.OPEN:
            whole[index]["state"] = SlotState.FREE
            return
        started = int(whole[index]["started"]) if rows.field == "operations" else None
        whole[index] = last[rows.field][0][index]
        if started is not None:  # not guarded by the sequence: a whole word by itself
            whole[index]["started"] = started

    def _settled(self, descriptor: int, offset: int, rows: _Rows) -> np.void | None:
        before, row, after = Buffer(_SEQUENCE), Buffer(rows.dtype), Buffer(_SEQUENCE)
        for _ in range(_ROW_ATTEMPTS):
            if not self._attempts:
                return None
            self._attempts -= 1
            first = int(before.fill(descriptor, offset + rows.sequence_at)[0])
            row.fill(descriptor, offset)
            if first % 2 == 0 and int(after.fill(descriptor, offset + rows.sequence_at)[0]) == first:
                return row.records[0]  # type: ignore[no-any-return]
        return None


def _same_tenant(before: Records, after: Records) -> bool:
    in_use = (layout.OPEN, layout.CLOSED)
    return bool(
        before["generation"][0] == after["generation"][0]
        and int(before["state"][0]) in in_use
        and int(after["state"][0]) in in_use
    )


def _torn(first: Records, final: Records) -> NDArray[np.bool_]:
    changed = (first["sequence"] != final["sequence"]) | (first["sequence"] % 2 == 1)
    torn: NDArray[np.bool_] = (first["state"] == layout.OPEN) & changed
    return torn
