"""Who arrives late, from how long each rank was inside a collective."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, Numbers
from sentinel.measure.labels import CELL, CellLabelled, Labels
from sentinel.measure.peers import group_median, peers_median
from sentinel.measure.window import Window
from sentinel.model.vocabulary import Vocabulary

__all__ = ["SYNCHRONIZING", "Lateness", "measure_lateness"]

Floats = npt.NDArray[np.float64]

# In these nobody finishes before the last has arrived. Broadcast, Reduce, Scatter, Gather and Send/Recv let ranks go
# early.
SYNCHRONIZING = frozenset({"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "AlltoAll"})


@dataclass(frozen=True)
class Lateness(CellLabelled):
    """One row per (cell, rank) with enough operations and at least one peer. Shape (n,).

    In a synchronizing collective duration_i = (S_last − S_i) + T, so a rank that arrives later than its peers is
    inside for less: lateness_i = median of the peers' durations − its own, in seconds per operation.
    `lateness_seconds` compares geometric means, which rare hiccups do not move, and decides; `wait_seconds` compares
    arithmetic means, which add up to time, and is what the lateness costs. `rate` is operations per second in the cell
    (median over its ranks), scaled by launched over measured where operations are sampled.
    """

    labels: Labels  # comm, rank, op, size, algo, proto
    operations: Floats
    rate: Floats
    duration_seconds: Floats  # geometric mean
    mean_seconds: Floats  # arithmetic mean
    peers_seconds: Floats  # median of the peers' arithmetic means
    lateness_seconds: Floats
    wait_seconds: Floats

    @property
    def cells(self) -> Groups:
        """The rows of each cell of this window."""
        return self.labels.groups(*CELL)

    @property
    def cell(self) -> Numbers:
        """The cell of each row, 0 … m − 1."""
        return self.cells.of


def measure_lateness(window: Window, vocabulary: Vocabulary, min_operations: int) -> Lateness:
    """Lateness in one window, over synchronizing operations; a rank needs `min_operations` in a cell to count."""
    synchronizing = [code for name in SYNCHRONIZING if (code := vocabulary.find(name)) is not None]
    enough = (window.operations >= min_operations) & window.labels.among("op", synchronizing)
    counted = window.labels.where(enough)
    cells = counted.groups(*CELL)
    # A cell with one rank has no peers.
    shared = (cells.size > 1)[cells.of]
    labels = counted.where(shared)
    place = np.flatnonzero(enough)[shared]

    def taken(values: Floats) -> Floats:
        return values if len(place) == len(values) else values[place]

    operations = taken(window.operations)
    duration = np.exp(taken(window.log_microseconds) / operations) * 1e-6
    mean = taken(window.seconds) / operations
    groups = labels.groups(*CELL)
    peers = peers_median(mean, groups)
    # A rank whose last scrape failed counted for longer than the others.
    ranks = labels.groups("comm", "rank")
    span = window.span_seconds(labels["comm"][ranks.first], labels["rank"][ranks.first])[ranks.of]
    return Lateness(
        labels=labels,
        operations=operations,
        rate=group_median(operations / span, groups)[groups.of] * taken(window.sampling_scale),
        duration_seconds=duration,
        mean_seconds=mean,
        peers_seconds=peers,
        lateness_seconds=peers_median(duration, groups) - duration,
        wait_seconds=peers - mean,
    )
