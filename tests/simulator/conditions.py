"""How fast everything is for a while: the effect of the faults that are active, as arrays over ranks."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from simulator.layout import Kind, Layout

Floats = npt.NDArray[np.float64]

# A slow link holds up the rank behind it most. The farther round the ring, the less is still to come over it when the
# last chunk arrives, and the sender itself is through first: by this share of the excess.
_SPREAD_RATIO = 0.3


@dataclass
class Conditions:
    """Seconds and factors by global rank, shape (ranks,).

    `fabric` multiplies transfers between nodes. `senders` and `hosts` are ranks with a slow link out, and ranks whose
    host is too slow for its network: by how much their communicators' transfers grow, as a ratio.
    """

    layout: Layout
    before_step: Floats
    before_collective: Floats
    stretch: Floats
    fabric: float = 1.0
    senders: dict[int, float] = field(default_factory=dict)
    hosts: dict[int, float] = field(default_factory=dict)

    @classmethod
    def healthy(cls, layout: Layout) -> "Conditions":
        """Nothing is wrong."""
        return cls(layout, np.zeros(layout.ranks), np.zeros(layout.ranks), np.ones(layout.ranks))

    def transfer(self, kind: Kind) -> Floats | float:
        """What each rank's transfers take, as a multiple of healthy ones; a number where all are alike."""
        factor = np.where(kind.crosses_nodes, self.fabric, 1.0)
        excess = np.zeros(len(factor))
        for rank, size in (*self.senders.items(), *self.hosts.items()):
            if kind.crosses_nodes[rank]:
                members = kind.groups[kind.group[rank]]
                distance = (kind.rank[members] - kind.rank[rank] - 1) % kind.nranks
                share = 1.0 - _SPREAD_RATIO * distance / max(1, kind.nranks - 1)
                excess[members] = np.maximum(excess[members], size * share)
        total = factor + excess
        return float(total[0]) if (total == total[0]).all() else total

    def sending(self, kind: Kind) -> Floats:
        """The same for what a rank sends to one peer. Shape (ranks,)."""
        factor = np.where(kind.crosses_nodes, self.fabric, 1.0)
        for rank, size in (*self.senders.items(), *self.hosts.items()):
            factor[rank] += size * kind.crosses_nodes[rank]
        return factor
