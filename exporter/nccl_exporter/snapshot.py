"""A consistent copy of one communicator's block, taken while the process writes it.

The rows are copied, then the whole block, then the rows again. A row whose commit is the same in the first and the last
copy is whole in the middle one. When that is so of every row that ends operations, then none ended in between, and what
the middle copy shows in flight fits its rows; else all is copied again, a bounded number of times.
"""

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from nccl_exporter import layout, record, table
from nccl_exporter.record import Block
from nccl_exporter.table import Flags, Table, Words

_ATTEMPTS: Final = 8
_ROW_ATTEMPTS: Final = 32
# Rows read again for one file in one scrape: a file whose commits never rest must not hold up the others.
_FILE_ATTEMPTS: Final = 1024

_COMMIT: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a communicator found. It is good until the next look.

    `open` and `whole` are by table (table.TABLES). `is_still`: no operation ended meanwhile. `words_later` are the
    operations' plain words, launched and left_out, read after everything else.
    """

    block: Block
    open: tuple[Flags, ...]
    whole: tuple[Flags, ...]
    is_still: bool
    words_later: Words
    open_later: Flags


class Snapshots:
    """Takes looks at the communicators of files; `torn` counts rows that changed each time they were copied."""

    def __init__(self) -> None:
        self._first, self._middle, self._last = Block(), Block(), Block()
        self._attempts = 0
        self.torn = 0

    def begin(self) -> None:
        """Start a scrape."""
        self._attempts = _FILE_ATTEMPTS

    def take(self, descriptor: int, slot: int) -> Look | None:
        """Look at communicator `slot`; None when it is not in use. Raises SourceError when the file is cut."""
        first, middle, last = self._first, self._middle, self._last
        is_same = is_still = False
        for _ in range(_ATTEMPTS):
            first.fill_rows(descriptor, slot)
            middle.fill(descriptor, slot)
            last.fill_rows(descriptor, slot)
            is_same = first.generation == last.generation and first.is_in_use and last.is_in_use
            is_still = is_same and not any(
                np.any(before.commit != after.commit)
                for before, after in zip(first.tables[table.ENDINGS], last.tables[table.ENDINGS], strict=True)
            )
            if is_still or not self._attempts:
                break
            self._attempts -= 1
        if not is_same:
            return None
        opened = tuple(rows.state == layout.OPEN for rows in first.tables)
        whole = []
        for number, place in enumerate(table.TABLES):
            same: Flags = first.tables[number].commit == last.tables[number].commit
            for row in np.flatnonzero(opened[number] & ~same).tolist():
                same[row] = self._mend(descriptor, slot, place, row)
            whole.append(same)
        if not is_still:
            last.fill_rows(descriptor, slot)  # after every row: what has ended was launched by now
        operations = last.tables[0]
        return Look(middle, opened, tuple(whole), is_still, plain_words(last), operations.state == layout.OPEN)

    def _mend(self, descriptor: int, slot: int, place: Table, row: int) -> bool:
        """Copy one row again until it is whole."""
        within = place.offset + row * place.row.itemsize
        offset = layout.communicator_offset(slot) + within
        commit_offset = offset + layout.offset(place.row, "commit")
        memory = self._middle.part(within, place.row.itemsize)
        before, after = bytearray(_COMMIT.size), bytearray(_COMMIT.size)
        for _ in range(_ROW_ATTEMPTS):
            if not self._attempts:
                break
            self._attempts -= 1
            record.fill(descriptor, before, commit_offset)
            record.fill(descriptor, memory, offset)
            record.fill(descriptor, after, commit_offset)
            if before == after:
                return True
        self.torn += 1
        return False


def plain_words(block: Block) -> Words:
    """How many were launched, and left_out, of each operation, in this order."""
    records = block.tables[0].records
    words: Words = np.column_stack([records["launched"], records["left_out"][:, : len(layout.OUTCOMES)]])
    return words
