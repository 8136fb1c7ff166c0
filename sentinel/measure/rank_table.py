"""One number for each rank of a communicator, to be looked up for many rows at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes

__all__ = ["RankTable"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankTable:
    """`key` is in order, shape (m,), and tells communicators and ranks apart; `values`, shape (m,), belong to it."""

    key: npt.NDArray[np.int64]
    values: Floats

    @classmethod
    def from_columns(cls, comm: npt.NDArray[np.integer], rank: npt.NDArray[np.integer], values: Floats) -> "RankTable":
        """From columns of shape (m,), in any order."""
        key = _key(comm, rank)
        order = np.argsort(key, kind="stable")
        return cls(key[order], values[order])

    @classmethod
    def empty(cls) -> "RankTable":
        """Nothing known."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0))

    def of(self, comm: Codes, rank: Codes, otherwise: float) -> Floats:
        """The value of each row, shape (n,); `otherwise` where none is known."""
        if not len(self.key):
            return np.full(len(comm), otherwise)
        wanted = _key(comm, rank)
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[place] == wanted, self.values[place], otherwise)


def _key(comm: npt.NDArray[np.integer], rank: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    return np.asarray(comm.astype(np.int64) << 32 | rank)
