"""The four tables of a communicator whose rows are committed: where their rows are in its block."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import layout

Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Table:
    """One of the tables: the rows' type and number, where they begin, and the field that holds both copies."""

    rows: int
    row: "np.dtype[Any]"
    offset: int
    copies: str
    width: int

    @classmethod
    def of(cls, field: str, copies: str) -> "Table":
        """The table in a field of layout.COMMUNICATOR."""
        assert layout.COMMUNICATOR.fields is not None  # noqa: S101
        kind, offset = layout.COMMUNICATOR.fields[field][:2]
        row, (rows,) = kind.subdtype or (kind, (1,))
        assert row.fields is not None  # noqa: S101
        return cls(rows, row, int(offset), copies, row.fields[copies][0].itemsize // 16)


OPERATIONS: Final = Table.of("operations", "settled")
CELLS: Final = Table.of("cells", "counts")
PEERS: Final = Table.of("peers", "counts")
LINKS: Final = Table.of("links", "counts")
TABLES: Final = (OPERATIONS, CELLS, PEERS, LINKS)

# What ends an operation is in these; the rest follows on its own.
ENDINGS: Final = slice(0, 3)

# Everything that a commit makes true lies before this.
ROWS_END: Final = LINKS.offset + LINKS.rows * LINKS.row.itemsize


class RowView:
    """The rows of one table in a copy of a communicator's block; `identity` is all that says what a row counts."""

    def __init__(self, table: Table, memory: bytearray) -> None:
        def view(kind: str, at: int, *inner: int) -> Any:
            strides = (table.row.itemsize, *(8 * math.prod(inner[place + 1 :]) for place in range(len(inner))))
            return np.ndarray((table.rows, *inner), kind, memory, table.offset + at, strides)

        self.records: Any = np.ndarray((table.rows,), table.row, memory, table.offset)
        self.state: NDArray[np.uint32] = view("<u4", 0)
        # An operation's is followed by a word that changes.
        self.identity: NDArray[Any] = view("<u4" if table is OPERATIONS else "<u8", 4)
        self.commit: Words = view("<u8", layout.offset(table.row, "commit"))
        self._copies: Words = view("<u8", layout.offset(table.row, table.copies), 2, table.width)

    def counts(self, rows: NDArray[np.intp]) -> Words:
        """The true copy of the counts of these rows."""
        true = (self.commit[rows] >> np.uint64(layout.COMMIT_SHIFT)) & np.uint64(1)
        counts: Words = self._copies[rows, true]
        return counts
