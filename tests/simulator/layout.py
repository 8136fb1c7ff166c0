"""Who trains: nodes of GPUs, global ranks, and the communicators that they form."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from simulator.program import Program

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Kind:
    """All communicators of one kind. Every rank of the job is in exactly one of them.

    `groups` are global ranks, shape (communicators, nranks), in the order of the rank in the communicator.
    """

    name: str
    groups: Ints
    comm_name: str = ""
    gpus_per_node: int = 8

    @property
    def nranks(self) -> int:
        """Ranks in each communicator."""
        return int(self.groups.shape[1])

    @property
    def is_world(self) -> bool:
        """Whether there is one, of everybody."""
        return len(self.groups) == 1

    @cached_property
    def rank(self) -> Ints:
        """Rank in its communicator, by global rank. Shape (ranks,)."""
        return self._by_rank(np.tile(np.arange(self.nranks), len(self.groups)))

    @cached_property
    def group(self) -> Ints:
        """Which of the communicators, by global rank. Shape (ranks,)."""
        return self._by_rank(np.repeat(np.arange(len(self.groups)), self.nranks))

    @cached_property
    def nnodes(self) -> Ints:
        """Nodes of each communicator."""
        nodes = np.sort(self.groups // self.gpus_per_node, axis=1)
        return np.asarray(1 + np.count_nonzero(np.diff(nodes, axis=1), axis=1), dtype=np.int64)

    @cached_property
    def crosses_nodes(self) -> npt.NDArray[np.bool_]:
        """Whether each rank's communicator spans more than one node. Shape (ranks,)."""
        return self.nnodes[self.group] > 1

    def last(self, arrival: Floats) -> Floats:
        """The largest of each communicator. (operations, ranks) to (operations, communicators)."""
        if not self._is_in_order:
            arrival = arrival[:, self.groups.reshape(-1)]
        return np.asarray(arrival.reshape(len(arrival), len(self.groups), self.nranks).max(axis=2))

    def expand(self, values: Floats) -> Floats:
        """(operations, communicators) to (operations, ranks), or to what broadcasts to it."""
        return values if self.is_world else values[:, self.group]

    @cached_property
    def _is_in_order(self) -> bool:
        return bool((np.diff(self.groups.reshape(-1)) == 1).all())

    def _by_rank(self, values: Ints) -> Ints:
        out = np.empty(self.groups.size, dtype=np.int64)
        out[self.groups.reshape(-1)] = values
        return out


@dataclass(frozen=True, eq=False)
class Layout:
    """A job: its communicators by kind, what it does in a step, and the pipeline stage of every rank.

    ValueError where a communicator has not the same number of ranks on each of its nodes, or a rank is left out.
    """

    ranks: int
    kinds: Mapping[str, Kind]
    program: Program
    stage: Ints
    job_id: str = "job"
    gpus_per_node: int = 8

    def __post_init__(self) -> None:
        for kind in self.kinds.values():
            if not np.array_equal(np.sort(kind.groups, axis=None), np.arange(self.ranks)):
                raise ValueError(f"{kind.name}: every rank must be in exactly one communicator")
            nodes = kind.groups // self.gpus_per_node
            if any(kind.nranks % nnodes for nnodes in kind.nnodes.tolist()) or (np.diff(nodes, axis=1) < 0).any():
                raise ValueError(f"{kind.name}: its ranks must be in the order of nodes, as many on each")
        self.program.check({name: kind.is_world for name, kind in self.kinds.items()})

    @property
    def nodes(self) -> int:
        """Nodes that it needs."""
        return -(-self.ranks // self.gpus_per_node)

    def comm_ids(self, kind: Kind, start: int) -> list[str]:
        """Ids of a kind's communicators: 16 hex digits, others at each start of the job."""
        return [
            hashlib.blake2b(f"{self.job_id} {start} {kind.name} {group}".encode(), digest_size=8).hexdigest()
            for group in range(len(kind.groups))
        ]
