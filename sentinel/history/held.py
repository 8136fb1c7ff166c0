"""A tick's column as it is held for an hour."""

from dataclasses import dataclass

import numpy as np

from sentinel.history.column import Column, RankMeans, Ranks, Said

__all__ = ["HeldColumn"]

_OBJECT_BYTES = 400  # without what is in the arrays


@dataclass(frozen=True, slots=True)
class HeldColumn:
    """`values`: lateness and then duration, float32 of each of the `ranks`.

    Bytes, and not arrays: thousands of small ones that stay would lie all over the heap among a tick's large ones that
    go, and keep its pages.
    """

    time: float
    state: str
    findings: int
    ranks: Ranks
    values: bytes

    @classmethod
    def of(cls, column: Column) -> "HeldColumn":
        """The same, in fewer pieces."""
        means = column.means
        values = means.lateness_seconds.tobytes() + means.duration_seconds.tobytes()
        return cls(column.time, column.state, column.findings, means.ranks, values)

    @property
    def column(self) -> Column:
        """As it was; its arrays cannot be written."""
        late, duration = np.frombuffer(self.values, np.float32).reshape(2, len(self.ranks))
        return Column(self.time, self.state, self.findings, RankMeans(self.ranks, late, duration))

    @property
    def said(self) -> Said:
        """Without what was measured."""
        return Said(self.time, self.state, self.findings)

    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        return _OBJECT_BYTES + self.ranks.nbytes + len(self.values)
