"""What Sends, Recvs and network steps took between two snapshots."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.difference import Difference
from sentinel.model.snapshot import NetworkTable, PeerTable, Snapshot

__all__ = ["Traffic", "TrafficReader"]


@dataclass(frozen=True)
class Traffic:
    """Measured Sends and Recvs, and network steps, that ended in a window; only rows with at least one.

    The tables hold what was gained, not counters. A series that is new, was missing at the start or was reset has no
    row.
    """

    peers: PeerTable
    network: NetworkTable


class TrafficReader:
    """Folds snapshots, in the order of time."""

    def __init__(self) -> None:
        self._peers = Difference(2)
        self._network = Difference(2)

    def step(self, snapshot: Snapshot) -> Traffic:
        """The window that ends at this snapshot; nothing in it for the first one."""
        return Traffic(self._step_peers(snapshot.peers), self._step_network(snapshot.network))

    def _step_peers(self, now: PeerTable) -> PeerTable:
        gain = self._peers.step((now.comm, now.rank, now.op, now.peer), (now.operations, now.seconds))
        kept = _counted(gain)
        return PeerTable(now.comm[kept], now.rank[kept], now.op[kept], now.peer[kept], *gain[:, kept])

    def _step_network(self, now: NetworkTable) -> NetworkTable:
        keys = (now.comm, now.rank, now.peer, now.direction, now.state)
        gain = self._network.step(keys, (now.steps, now.seconds))
        kept = _counted(gain)
        comm, rank, peer, direction, state = (key[kept] for key in keys)
        return NetworkTable(comm, rank, peer, direction, state, *gain[:, kept])


def _counted(gain: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which rows counted something, and lost nothing."""
    return np.asarray((gain >= 0).all(axis=0) & (gain[0] > 0))
