"""Own history and peers as one witness: the standard deviations in which both agree that a rank got late."""

import numpy as np
import numpy.typing as npt

from sentinel.detect.anchors import Comparison
from sentinel.detect.autocorrelation import run_deviation, step_deviation
from sentinel.detect.pool import Excess
from sentinel.measure.row_space import Rows

__all__ = ["late_witness", "may_rise", "witness_values"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# How ranks differ from one another does not average out over time as noise does: only what exceeds this many robust
# standard deviations of their differences counts against a rank.
_PEERS_SIGMAS = 4.0
# How early a rank wanders, in its own standard deviations. Who was earlier than that waited for somebody, and nothing
# follows from it: who comes back from early to normal is not late.
_EARLY_SIGMAS = 2.0


def witness_values(evidence: Excess) -> Floats:
    """What `late_witness` has to know of an earlier tick. Shape (3, n)."""
    return np.stack([evidence.excess_ratio, evidence.apart_ratio, evidence.scatter_ratio])


def may_rise(evidence: Excess, reference_sigmas: float) -> Flags:
    """Who may exceed k of the CUSUM, whatever its anchor: late by more than the floor, and than its peers. Shape (n,).

    An anchor only takes off what is expected, and the floor is the least that is divided by.
    """
    late = evidence.excess_ratio > reference_sigmas * evidence.floor_ratio
    return np.asarray(late & ~(evidence.apart_ratio <= 0))


def late_witness(evidence: Excess, reference_sigmas: float) -> Comparison:
    """Compares the evidence of a tick with what it was at an anchor.

    `reference_sigmas`: k of the CUSUM, which takes it off again.
    """

    def compare(place: Rows, anchor: Floats, ticks: Floats) -> Floats:
        here = evidence.at(place)
        rho, noise, floor, spread = here.autocorrelation, here.noise_ratio, here.floor_ratio, here.spread_ratio
        ticks = np.where(anchor[0] >= -_EARLY_SIGMAS * spread, ticks, np.inf)
        remains = rho**ticks
        # Nor is it expected to be early: whoever is not late at all is not on its way to it either.
        excess, apart, scatter = np.maximum(0.0, anchor) * remains
        run = np.hypot(noise * run_deviation(rho, remains, ticks), floor)
        own = _divided(here.excess_ratio - excess, run)
        step = np.hypot(noise * step_deviation(remains), floor)
        # What the group scatters by now and did not before is new, and not to be expected of it.
        now = here.scatter_ratio
        scale = np.sqrt(now**2 - np.minimum(scatter, remains * now) ** 2)
        scale = np.maximum(scale, _divided(here.group_spread_ratio * step, spread))
        peers = _divided(here.apart_ratio - apart, scale) - _PEERS_SIGMAS + reference_sigmas
        # With few peers there is no spread to ask, and lateness compares with them anyway.
        return np.where(np.isnan(here.apart_ratio), own, np.minimum(own, peers))

    return compare


def _divided(values: Floats, by: Floats) -> Floats:
    """0 where there is nothing to divide by: a pair without cells."""
    return np.divide(values, by, out=np.zeros(len(values)), where=by > 0)
