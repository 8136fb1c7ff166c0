"""Which role each communicator plays, by number, and on which nodes."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sentinel.advise.measurement import Hardware
from sentinel.measure.membership import Membership
from sentinel.model.vocabulary import Codes

__all__ = ["RoleTable"]

_Shape = tuple[str, str, int, int]


class RoleTable:
    """Communicators of one job, name and shape play one role: the groups of a job that do the same."""

    def __init__(self) -> None:
        self._numbers: dict[_Shape, int] = {}
        self._nodes: dict[int, set[str]] = {}
        self._membership: Membership | None = None
        self._of: dict[int, tuple[int, int]] = {}

    def read(self, membership: Membership) -> None:
        """Take the communicators of an instant."""
        if membership is self._membership:
            return
        self._membership = membership
        self._of = {}
        for code, communicator in membership.communicators.items():
            role = communicator.role
            shape = (communicator.job, role.comm_name, role.nranks, role.nnodes)
            number = self._numbers.setdefault(shape, len(self._numbers))
            self._nodes.setdefault(number, set()).update(member.node for member in communicator.members.values())
            self._of[code] = (number, role.nranks)

    def of(self, comm: Codes) -> tuple[npt.NDArray[np.int64], Codes]:
        """Role and number of ranks of each row's communicator, shape (n,); a role of -1 where nobody says."""
        known, place = np.unique(comm, return_inverse=True)
        both = np.array([self._of.get(code, (-1, 0)) for code in known.tolist()], dtype=np.int64).reshape(-1, 2)
        return both[place, 0], both[place, 1].astype(np.int32)

    @property
    def hardware(self) -> Mapping[int, Hardware]:
        """Every role that was ever seen, by number."""
        return {number: Hardware(*shape, tuple(sorted(self._nodes[number]))) for shape, number in self._numbers.items()}
