"""Communicators of exactly two nodes: on which of them each rank is."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.membership import Membership
from sentinel.model.vocabulary import Codes

__all__ = ["HalvesReader"]

Sides = npt.NDArray[np.int64]


class HalvesReader:
    """Reads a membership anew only when it has changed."""

    def __init__(self) -> None:
        self._membership = Membership({})
        self._key: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._side: Sides = np.empty(0, dtype=np.int64)

    def of(self, comm: Codes, rank: Codes, membership: Membership) -> Sides:
        """0 or 1 for each row, shape (n,); −1 where its communicator is not on two nodes, or the rank not known."""
        if membership is not self._membership:
            self._membership = membership
            self._read()
        out = np.full(len(comm), -1)
        if len(self._key):
            wanted = _key(comm, rank)
            place = np.minimum(np.searchsorted(self._key, wanted), len(self._key) - 1)
            there = self._key[place] == wanted
            out[there] = self._side[place[there]]
        return out

    def _read(self) -> None:
        found = []
        for comm, communicator in self._membership.communicators.items():
            nodes = sorted({member.node for member in communicator.members.values()})
            if len(nodes) == 2:
                found += [(comm, rank, nodes.index(member.node)) for rank, member in communicator.members.items()]
        columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
        key = _key(columns[0], columns[1])
        order = np.argsort(key)
        self._key, self._side = key[order], columns[2][order]


def _key(comm: npt.NDArray[np.integer], rank: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    return np.asarray(comm.astype(np.int64) << 32 | rank)
