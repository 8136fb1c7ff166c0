"""Copying parts of a mapped file into memory of our own.

The file is read with preadv and not through a mapping of ours: the job that wrote it may cut it short at any moment,
and touching a page that is gone kills the reader (SIGBUS), while a short read is an answer. Both see the same page
cache, and copy aligned 64-bit words whole.
"""

import os
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import layout, table
from nccl_exporter.errors import SourceError
from nccl_exporter.table import RowView, Words

Records = NDArray[Any]


def fill(descriptor: int, memory: bytearray | memoryview, offset: int) -> None:
    """Read as much as `memory` holds. Raises SourceError when the file ends before."""
    try:
        got = os.preadv(descriptor, [memory], offset)
    except OSError as error:
        raise SourceError("io", str(error.strerror)) from error
    if got != len(memory):
        raise SourceError("size", "cut short while it was read")


class Buffer:
    """Memory for one copy of `count` records; `records` is what the last `fill` read."""

    def __init__(self, dtype: "np.dtype[Any]", count: int = 1) -> None:
        self._memory: Final = bytearray(dtype.itemsize * count)
        self.records: Final[Records] = np.frombuffer(self._memory, dtype)

    def fill(self, descriptor: int, offset: int) -> Records:
        """Read the records at `offset`. Raises SourceError when the file ends before."""
        fill(descriptor, self._memory, offset)
        return self.records


class Block:
    """Memory for one copy of a communicator's block, and its parts by name."""

    def __init__(self) -> None:
        memory = bytearray(layout.COMMUNICATOR.itemsize)
        self._all: Final = memoryview(memory)
        self._rows: Final = self._all[: table.ROWS_END]
        self.head: Final[Any] = np.frombuffer(memory, layout.HEAD, 1)
        self.tables: Final = tuple(RowView(one, memory) for one in table.TABLES)
        self.channels: Final[Words] = np.frombuffer(
            memory, "<u8", 4 * layout.CHANNELS, layout.offset(layout.COMMUNICATOR, "channels")
        ).reshape(layout.CHANNELS, 2, len(layout.TRANSPORTS))
        self.in_flight: Final[Words] = np.frombuffer(
            memory, "<u8", layout.IN_FLIGHT, layout.offset(layout.COMMUNICATOR, "in_flight")
        )

    @property
    def is_in_use(self) -> bool:
        """Whether the slot holds a communicator, open or closed."""
        return int(self.head["state"][0]) in (layout.OPEN, layout.CLOSED)

    @property
    def generation(self) -> int:
        """How often the slot has been used."""
        return int(self.head["generation"][0])

    def fill(self, descriptor: int, slot: int) -> None:
        """Copy all of it. Raises SourceError when the file is cut."""
        fill(descriptor, self._all, layout.communicator_offset(slot))

    def fill_rows(self, descriptor: int, slot: int) -> None:
        """Copy what is committed, which is the beginning. Raises SourceError when the file is cut."""
        fill(descriptor, self._rows, layout.communicator_offset(slot))

    def part(self, offset: int, size: int) -> memoryview:
        """Some bytes of the copy, to be read again."""
        return self._all[offset : offset + size]
