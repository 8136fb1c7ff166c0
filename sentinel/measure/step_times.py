"""How long a network step takes on each link, and on the links it can be compared with."""

from collections.abc import Collection
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.measure.peers import peers_median
from sentinel.model.snapshot import NetworkTable
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["DECISIVE", "StepTimes", "measure_step_times"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]

# The state of each direction that its own rank is to answer for: what is sent and not on its way, what has arrived and
# is not in the GPU's memory. In all others a step waits for somebody else as well.
DECISIVE = {"send": "wire", "recv": "flush"}


@dataclass(frozen=True)
class StepTimes:
    """One row per (comm, rank, peer, direction): its decisive state in one window. Shape (n,).

    `group` numbers the (comm, direction) pairs 0 … m − 1, whose links are each other's peers. `direction_seconds` is
    what all steps of that rank in that direction took together, in all states and with all peers.
    """

    comm: Codes
    rank: Codes
    peer: Codes
    direction: Codes
    group: Groups
    steps: Floats
    step_seconds: Floats  # per step
    peers_seconds: Floats  # median of the group's others; NaN for the only link of its group
    direction_seconds: Floats

    def of(self, comms: Collection[int]) -> "StepTimes":
        """The links of some communicators."""
        kept = np.isin(self.comm, np.fromiter(comms, dtype=np.int64))
        if kept.all():
            return self
        columns = {each.name: getattr(self, each.name)[kept] for each in fields(StepTimes)}
        return StepTimes(**columns | {"group": group_rows(columns["group"])[0]})


def measure_step_times(network: NetworkTable, vocabulary: Vocabulary, min_steps: int) -> StepTimes:
    """Seconds per step in one window. `network` holds gains; a link needs `min_steps` in it to count."""
    decisive = np.zeros(len(network.steps), dtype=bool)
    for names in DECISIVE.items():
        way, state = (vocabulary.find(name) or 0 for name in names)
        if way and state:
            decisive |= (network.direction == way) & (network.state == state)
    kept = np.flatnonzero(decisive & (network.steps >= min_steps))
    comm, rank, direction = network.comm[kept], network.rank[kept], network.direction[kept]
    # A step shorter than a nanosecond is a clock that stood still.
    step_seconds = np.maximum(network.seconds[kept] / network.steps[kept], 1e-9)
    group = _numbered(comm, np.zeros_like(rank), direction)
    return StepTimes(
        comm=comm,
        rank=rank,
        peer=network.peer[kept],
        direction=direction,
        group=group,
        steps=network.steps[kept],
        step_seconds=step_seconds,
        peers_seconds=peers_median(step_seconds, group),
        direction_seconds=_sums(network)[kept],
    )


def _numbered(comm: Codes, rank: Codes, direction: Codes) -> Groups:
    """Numbers 0 … m − 1 for the (comm, rank, direction) that occur."""
    return group_rows(comm, rank, direction)[0]


def _sums(network: NetworkTable) -> Floats:
    """For each row the seconds of all rows of its (comm, rank, direction)."""
    group = _numbered(network.comm, network.rank, network.direction)
    return np.bincount(group, weights=network.seconds)[group].astype(np.float64) if len(group) else np.empty(0)
