"""Communicators of exactly two nodes: on which of them each rank is."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.membership import Membership
from sentinel.measure.rank_table import RankTable
from sentinel.model.vocabulary import Codes

__all__ = ["HalvesReader"]


class HalvesReader:
    """Reads a membership anew only when it has changed."""

    def __init__(self) -> None:
        self._membership = Membership({})
        self._side = RankTable.empty()

    def of(self, comm: Codes, rank: Codes, membership: Membership) -> npt.NDArray[np.int64]:
        """0 or 1 for each row, shape (n,); −1 where its communicator is not on two nodes, or the rank not known."""
        if membership is not self._membership:
            self._membership = membership
            self._side = _read(membership)
        return self._side.of(comm, rank, -1.0).astype(np.int64)


def _read(membership: Membership) -> RankTable:
    found = []
    for comm, communicator in membership.communicators.items():
        nodes = sorted({member.node for member in communicator.members.values()})
        if len(nodes) == 2:
            found += [(comm, rank, nodes.index(member.node)) for rank, member in communicator.members.items()]
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return RankTable.from_columns(columns[0], columns[1], columns[2].astype(np.float64))
