"""Which machine each rank runs on."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Placement:
    """`machine` gives the physical node of each of the job's nodes: a restart may change it."""

    machine: Ints
    ranks: int
    gpus_per_node: int = 8

    @classmethod
    def in_order(cls, nodes: int, ranks: int, gpus_per_node: int = 8) -> "Placement":
        """Node n of the job is machine n."""
        return cls(np.arange(nodes), ranks, gpus_per_node)

    @property
    def node_of(self) -> Ints:
        """Machine of each rank. Shape (ranks,)."""
        return self.machine[np.arange(self.ranks) // self.gpus_per_node]

    @property
    def gpu_of(self) -> Ints:
        """Number of the physical GPU of each rank, all machines counted through. Shape (ranks,)."""
        return self.node_of * self.gpus_per_node + np.arange(self.ranks) % self.gpus_per_node

    def ranks_on_node(self, machine: int) -> tuple[int, ...]:
        """Who runs on a machine; nobody where the job does not use it."""
        return tuple(np.flatnonzero(self.node_of == machine).tolist())

    def ranks_on_gpu(self, gpu: int) -> tuple[int, ...]:
        """Who runs on a physical GPU: one rank or none."""
        return tuple(np.flatnonzero(self.gpu_of == gpu).tolist())
