"""Who arrives late, from how long each rank was inside a collective."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, group_rows
from sentinel.measure.peers import group_median, peers_median
from sentinel.measure.window import Window
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["SYNCHRONIZING", "Lateness", "measure_lateness"]

Floats = npt.NDArray[np.float64]

# In these nobody finishes before the last has arrived. Broadcast, Reduce, Scatter, Gather and Send/Recv let ranks go
# early.
SYNCHRONIZING = frozenset({"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "AlltoAll"})


@dataclass(frozen=True)
class Lateness:
    """One row per (cell, rank) with enough operations and at least one peer. Shape (n,).

    In a synchronizing collective duration_i = (S_last − S_i) + T, so a rank that arrives later than its peers is
    inside for less: lateness_i = median of the peers' durations − its own, in seconds per operation.
    `lateness_seconds` compares geometric means, which rare hiccups do not move, and decides; `wait_seconds` compares
    arithmetic means, which add up to time, and is what the lateness costs. `cell` numbers the cells 0 … m − 1 of this
    window. `rate` is operations per second in the cell (median over its ranks), scaled by launched over measured
    where operations are sampled.
    """

    comm: Codes
    rank: Codes
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    cell: npt.NDArray[np.int64]
    operations: Floats
    rate: Floats
    duration_seconds: Floats  # geometric mean
    mean_seconds: Floats  # arithmetic mean
    peers_seconds: Floats  # median of the peers' arithmetic means
    lateness_seconds: Floats
    wait_seconds: Floats


def measure_lateness(window: Window, vocabulary: Vocabulary, min_operations: int) -> Lateness:
    """Lateness in one window, over synchronizing operations; a rank needs `min_operations` in a cell to count."""
    synchronizing = np.array([vocabulary.find(name) or 0 for name in SYNCHRONIZING], dtype=np.int32)
    keep = (window.operations >= min_operations) & np.isin(window.op, synchronizing[synchronizing > 0])
    labels = (window.comm, window.op, window.size, window.algo, window.proto)
    cell, first = group_rows(*(label[keep] for label in labels))
    # A cell with one rank has no peers: it is left out, and the others are numbered anew.
    shared = np.bincount(cell, minlength=len(first)) > 1
    keep[keep] = shared[cell]
    cell = (np.cumsum(shared) - 1)[cell[shared[cell]]]

    operations = window.operations[keep]
    duration = np.exp(window.log_microseconds[keep] / operations) * 1e-6
    mean = window.seconds[keep] / operations
    groups = Groups.of_rows(cell)
    peers = peers_median(mean, groups)
    rate = _cell_rate(window, keep, groups, operations)
    return Lateness(
        comm=window.comm[keep],
        rank=window.rank[keep],
        op=window.op[keep],
        size=window.size[keep],
        algo=window.algo[keep],
        proto=window.proto[keep],
        cell=cell,
        operations=operations,
        rate=rate,
        duration_seconds=duration,
        mean_seconds=mean,
        peers_seconds=peers,
        lateness_seconds=peers_median(duration, groups) - duration,
        wait_seconds=peers - mean,
    )


def _cell_rate(window: Window, keep: npt.NDArray[np.bool_], groups: Groups, operations: Floats) -> Floats:
    """Operations per second of each row's cell, those that were not measured included."""
    progress = window.progress
    known = np.isfinite(progress.launched)
    both, _ = group_rows(
        np.concatenate([window.comm, progress.comm[known]]), np.concatenate([window.op, progress.op[known]])
    )
    count = int(both.max(initial=-1)) + 1
    mine, theirs = both[: len(window.comm)], both[len(window.comm) :]
    measured = np.bincount(mine, weights=window.operations, minlength=count)
    launched = np.bincount(theirs, weights=progress.launched[known], minlength=count)
    # Launched falls short of measured only by what was in flight when the window began.
    scale = np.maximum(1.0, launched[mine[keep]] / measured[mine[keep]])
    # A rank whose last scrape failed counted for longer than the others.
    span = window.span_seconds(window.comm[keep], window.rank[keep])
    return np.asarray(group_median(operations / span, groups)[groups.of] * scale)
