"""Measured stretches in a work file."""

from collections.abc import Iterable, Sequence

from sentinel.baseline.measured import CellName, CellPart, MeasuredStretch, StretchHead, Values
from sentinel.baseline.measured_bytes import (
    HeadReader,
    head_to_bytes,
    name_from_bytes,
    name_to_bytes,
    part_from_bytes,
    part_to_bytes,
    rank_bytes,
    values_from_bytes,
    values_to_bytes,
)
from sentinel.state.work_file import Part, WorkFile

__all__ = ["StoredMeasurements", "store"]


def store(work: WorkFile, identity: bytes, measured: MeasuredStretch) -> None:
    """Keep one stretch. StateError."""
    parts = (
        Part(name_to_bytes(cell.name), part_to_bytes(cell.part), values_to_bytes(cell.values))
        for cell in measured.cells
    )
    work.add(identity, head_to_bytes(measured.head), parts)


class StoredMeasurements:
    """`Measurements` of the stretches with these identities, in the order of time. All are finished. StateError."""

    def __init__(self, work: WorkFile, identities: Sequence[bytes]) -> None:
        self._work = work
        pieces, reader = work.pieces(), HeadReader()
        self._numbers = {pieces[identity]: number for number, identity in enumerate(identities)}
        self._heads = [reader.read(work.head(pieces[identity])) for identity in identities]
        self._parts: dict[tuple[CellName, int], int] = {}

    @property
    def heads(self) -> Sequence[StretchHead]:
        """Of all stretches."""
        return self._heads

    def names(self) -> Iterable[CellName]:
        """Every cell."""
        return map(name_from_bytes, self._work.names())

    def parts(self, name: CellName) -> Sequence[tuple[int, CellPart]]:
        """A cell in each stretch that has it."""
        found = []
        for piece, part, head in self._work.parts(name_to_bytes(name)):
            number = self._numbers[piece]
            self._parts[name, number] = part
            found.append((number, part_from_bytes(head)))
        return sorted(found, key=lambda each: each[0])

    def values(self, name: CellName, number: int, rows: slice) -> Values:
        """Those of some of its ranks."""
        windows = self._heads[number].windows
        each = rank_bytes(windows)
        data = self._work.data(self._parts[name, number], rows.start * each, (rows.stop - rows.start) * each)
        return values_from_bytes(data, windows)
