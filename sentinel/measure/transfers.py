"""How long the transfers of a communicator take, as far as durations tell."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.lateness import Lateness
from sentinel.measure.peers import group_median
from sentinel.model.vocabulary import Codes

__all__ = ["Transfers", "measure_transfers"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Transfers:
    """One row per cell of a window, in the order of `Lateness.cells`. Shape (m,).

    The last to arrive waits for nobody, so its duration is the transfer. `shortest_seconds` is the smallest of the
    ranks' geometric means: the transfer, and what even the rank that is usually last waits for the others. That wait
    grows with how much arrivals scatter from operation to operation, which shows in `scatter_seconds`: the standard
    deviation of one rank's durations (median over ranks), sqrt(2 ln(arithmetic / geometric mean)) of the mean, as in a
    log-normal distribution.
    """

    comm: Codes
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    ranks: Floats
    rate: Floats  # operations per second
    shortest_seconds: Floats
    scatter_seconds: Floats


def measure_transfers(lateness: Lateness) -> Transfers:
    """From the durations of one window."""
    groups = lateness.cells
    first, shortest = groups.first, np.full(len(groups), np.inf)
    for numbers, rows in groups.blocks:
        shortest[numbers] = lateness.duration_seconds[rows].min(axis=1)
    spread = np.sqrt(2.0 * np.log(np.maximum(1.0, lateness.mean_seconds / lateness.duration_seconds)))
    return Transfers(
        comm=lateness.comm[first],
        op=lateness.op[first],
        size=lateness.size[first],
        algo=lateness.algo[first],
        proto=lateness.proto[first],
        ranks=groups.size.astype(np.float64),
        rate=lateness.rate[first],
        shortest_seconds=shortest,
        scatter_seconds=group_median(spread * lateness.duration_seconds, groups),
    )
