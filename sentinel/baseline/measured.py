"""What a stretch of history says: how late each rank was in each cell, window by window."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sentinel.measure.membership import Member
from sentinel.model.vocabulary import Codes

__all__ = [
    "ALGORITHM",
    "CellName",
    "CellPart",
    "MeasuredCell",
    "MeasuredStretch",
    "Measurements",
    "SeenCommunicator",
    "StretchHead",
    "Values",
]

ALGORITHM = 1
"""Raised whenever the same history is measured differently: what was measured before is then not used any more."""

Values = npt.NDArray[np.float32]
"""Lateness, wait and duration in seconds, by rank and window, shape (ranks, 3, windows); NaN where nothing was learnt.

Their 24 bits are a thousand times finer than what is measured.
"""


class CellName(NamedTuple):
    """What is compared: `comm` is a communicator's id, the rest labels."""

    comm: str
    op: str
    size: str
    algo: str
    proto: str


@dataclass(frozen=True)
class SeenCommunicator:
    """Who was seen in a communicator, whatever was learnt of it."""

    comm: str
    job_id: str
    comm_name: str
    nranks: int
    nnodes: int
    members: tuple[Member, ...]


@dataclass(frozen=True)
class StretchHead:
    """All but the numbers.

    `has_series`: whether there was anything. `is_counted`: whether ranks are the job's own; else they were numbered as
    they were met. `lengths_seconds` are those of its whole windows. `communicators` are in the order in which they were
    met.
    """

    windows: int
    has_series: bool
    is_counted: bool
    lengths_seconds: tuple[float, ...]
    communicators: tuple[SeenCommunicator, ...]


@dataclass(frozen=True)
class CellPart:
    """The ranks of one cell in one stretch, ascending, and how many operations each had in all. Shape (n,)."""

    ranks: Codes
    operations: npt.NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredCell:
    """One cell in one stretch."""

    name: CellName
    part: CellPart
    values: Values


@dataclass(frozen=True)
class MeasuredStretch:
    """One stretch."""

    head: StretchHead
    cells: tuple[MeasuredCell, ...]


class Measurements(Protocol):
    """Measured stretches, numbered in the order of time from 0 on, wherever they are kept."""

    @property
    def heads(self) -> Sequence[StretchHead]:
        """Of all stretches."""
        ...

    def names(self) -> Iterable[CellName]:
        """Every cell, once."""
        ...

    def parts(self, name: CellName) -> Sequence[tuple[int, CellPart]]:
        """A cell in each stretch that has it, by the stretch's number, in order."""
        ...

    def values(self, name: CellName, number: int, rows: slice) -> Values:
        """Those of some ranks of a cell in a stretch; `rows` are places in the part's ranks."""
        ...
