"""Bytes of each operation, and how many of its operations were in each size class."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, group_rows
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["ByteLedger", "Operations"]

Floats = npt.NDArray[np.float64]


@dataclass
class Operations:
    """Of one (role, op): bytes, and operations by size class in bytes, of the same ranks and windows."""

    size_bytes: float = 0.0
    by_size: dict[int, float] = field(default_factory=lambda: defaultdict(float))


class ByteLedger:
    """Adds up windows; leaves out ranks in whose window something is not known."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], Operations] = defaultdict(Operations)

    def add(
        self,
        role: npt.NDArray[np.int64],
        cells: tuple[Codes, Codes, Codes, Codes],
        operations: Floats,
        volume: tuple[Codes, Codes, Codes],
        size_bytes: Floats,
        vocabulary: Vocabulary,
    ) -> None:
        """One window: operations by `cells` (comm, rank, op, size), with their roles, shape (n,).

        And bytes by `volume` (comm, rank, op), shape (m,). NaN is what is not known.
        """
        comm, rank, op, size = cells
        keys = (np.concatenate([a, b]) for a, b in zip((comm, rank, op), volume, strict=True))
        number = group_rows(*keys)[0]
        count = int(number.max(initial=-1)) + 1
        moved = np.full(count, np.nan)
        moved[number[len(comm) :]] = size_bytes
        mine = number[: len(comm)]
        classes = self._classes(size, vocabulary)
        unknown = ~np.isfinite(operations) | (operations < 0) | ((classes < 0) & (operations != 0)) | (role < 0)
        broken = np.bincount(mine, unknown, count) > 0
        sound = ~broken & np.isfinite(moved) & (moved >= 0)
        kept = np.flatnonzero(sound[mine] & (operations > 0))
        if not len(kept):
            return
        rows = Groups.of_rows(group_rows(role[kept], op[kept], size[kept])[0])
        total = np.bincount(rows.of, operations[kept], len(rows))
        for first, sum_ in zip(kept[rows.first].tolist(), total.tolist(), strict=True):
            self._entries[int(role[first]), int(op[first])].by_size[int(classes[first])] += sum_
        ranks = Groups.of_rows(group_rows(mine[kept])[0])
        ops = Groups.of_rows(group_rows(role[kept][ranks.first], op[kept][ranks.first])[0])
        total = np.bincount(ops.of, moved[mine[kept]][ranks.first], len(ops))
        for first, sum_ in zip(kept[ranks.first][ops.first].tolist(), total.tolist(), strict=True):
            self._entries[int(role[first]), int(op[first])].size_bytes += sum_

    def of(self, role: int, op: int) -> Operations:
        """What is known of an operation in a role."""
        return self._entries.get((role, op), Operations())

    @staticmethod
    def _classes(size: Codes, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
        """The class in bytes of each row; -1 where sizes were folded together."""
        known, place = np.unique(size, return_inverse=True)
        texts = [vocabulary.text(code) for code in known.tolist()]
        return np.array([int(text) if text.isdecimal() else -1 for text in texts], dtype=np.int64)[place]
