"""Who sends to whom over the network, and what its network steps then say.

Each rank of a node has a network card of its own and is where one of the rings leaves the node; that ring enters the
next node one place farther on. So the rank that a ring enters by is not the one that it leaves by, as in NCCL's rings.
"""

import numpy as np
import numpy.typing as npt
from simulator.conditions import Conditions
from simulator.layout import Kind
from simulator.ledger import Ledger, Network

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STATES = {"send": ("gpu_wait", "peer_wait", "wire"), "recv": ("wire", "flush", "gpu_wait")}
STEP_BYTES = 1 << 19
_MOST_STEPS = 64
# Shares of a healthy transfer that steps spend in each state. They overlap, so they need not add up to one.
_SHARE = {
    ("send", "gpu_wait"): 0.30,
    ("send", "peer_wait"): 0.05,
    ("send", "wire"): 0.50,
    ("recv", "wire"): 0.60,
    ("recv", "flush"): 0.01,
    ("recv", "gpu_wait"): 0.10,
}
_FLUSH_RATIO = 0.5  # of what a starved host costs; the rest is in recv/gpu_wait


def send_peer(kind: Kind) -> Ints:
    """Rank in the communicator that each rank sends to. Shape (ranks,)."""
    return _shifted(kind, 1, 1)


def recv_peer(kind: Kind) -> Ints:
    """Rank in the communicator that each rank receives from. Shape (ranks,)."""
    return _shifted(kind, -1, -1)


def entry(kind: Kind) -> Ints:
    """By which rank in the communicator the ring that leaves by this rank has entered the node. Shape (ranks,)."""
    return _shifted(kind, 0, 1)


def steps_of(size: int) -> int:
    """Network steps of one operation of that many bytes."""
    return min(max(1, size // STEP_BYTES), _MOST_STEPS)


def count_steps(
    ledger: Ledger, kind: Kind, conditions: Conditions, operations: int, size: int, transfer: float, waited: Floats
) -> None:
    """Count the network steps of measured operations.

    transfer: seconds that they would all have taken in a healthy job. waited: seconds that each rank waited in them for
    the last to arrive, shape (ranks,): a step of recv/wire that lasts.
    """
    there = kind.crosses_nodes
    seconds = {place: np.full(len(there), share * transfer) for place, share in _SHARE.items()}
    seconds["send", "wire"] *= conditions.fabric
    seconds["recv", "wire"] *= conditions.fabric
    seconds["recv", "wire"] += waited
    for rank, size_ratio in conditions.senders.items():
        if there[rank]:
            members, excess = kind.groups[kind.group[rank]], size_ratio * transfer
            seconds["send", "wire"][rank] += excess
            seconds["recv", "wire"][members[send_peer(kind)[rank]]] += excess  # its data comes late: the victim
            seconds["recv", "gpu_wait"][members[entry(kind)[rank]]] += excess  # whose GPU cannot pass it on
    for rank, size_ratio in conditions.hosts.items():
        if there[rank]:
            seconds["recv", "flush"][rank] += _FLUSH_RATIO * size_ratio * transfer
            seconds["recv", "gpu_wait"][rank] += (1.0 - _FLUSH_RATIO) * size_ratio * transfer
    for (direction, state), spent in seconds.items():
        counts = ledger.of(Network(kind.name, direction, state))
        counts[0] += operations * steps_of(size) * there
        counts[1] += spent * there


def _shifted(kind: Kind, nodes: int, places: int) -> Ints:
    nnodes = kind.nnodes[kind.group]
    per_node = kind.nranks // nnodes
    node, place = np.divmod(kind.rank, per_node)
    return np.asarray((node + nodes) % nnodes * per_node + (place + places) % per_node, dtype=np.int64)
