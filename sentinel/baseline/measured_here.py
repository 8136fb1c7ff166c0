"""Measured stretches in memory."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sentinel.baseline.measured import CellName, CellPart, MeasuredCell, MeasuredStretch, StretchHead, Values

__all__ = ["MeasuredHere"]


class MeasuredHere:
    """`Measurements` of stretches in the order of time."""

    def __init__(self, stretches: Sequence[MeasuredStretch]) -> None:
        self._heads = [stretch.head for stretch in stretches]
        self._cells: dict[CellName, dict[int, MeasuredCell]] = defaultdict(dict)
        for number, stretch in enumerate(stretches):
            for cell in stretch.cells:
                self._cells[cell.name][number] = cell

    @property
    def heads(self) -> Sequence[StretchHead]:
        """Of all stretches."""
        return self._heads

    def names(self) -> Iterable[CellName]:
        """Every cell."""
        return list(self._cells)

    def parts(self, name: CellName) -> Sequence[tuple[int, CellPart]]:
        """A cell in each stretch that has it."""
        return [(number, cell.part) for number, cell in self._cells[name].items()]

    def values(self, name: CellName, number: int, rows: slice) -> Values:
        """Those of some of its ranks."""
        return self._cells[name][number].values[rows]
