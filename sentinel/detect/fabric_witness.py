"""Transfers and network steps as one witness: the standard deviations in which both agree that a fabric got slower."""

import numpy as np
import numpy.typing as npt

from sentinel.detect.anchors import Comparison
from sentinel.detect.autocorrelation import run_deviation
from sentinel.detect.fabric_history import FabricReading, Rise
from sentinel.measure.row_space import Rows

__all__ = ["fabric_witness", "witness_values"]

Floats = npt.NDArray[np.float64]

# How far transfers wander below their normal, in their own standard deviations. What was faster than that did something
# else, and nothing follows from it: what comes back to normal is not slow.
_FAST_SIGMAS = 2.0


def witness_values(reading: FabricReading, kept: Rows) -> Floats:
    """What `fabric_witness` has to know of an earlier tick, of the rows `kept`, shape (n,). Shape (2, n)."""
    return np.stack([reading.transfer.rise[kept], reading.wire.rise[kept]])


def fabric_witness(reading: FabricReading, kept: Rows) -> Comparison:
    """Compares the rows `kept` of a reading with what they were at an anchor.

    None where the wire is not slow enough to be the reason.
    """

    def compare(place: Rows, anchor: Floats, ticks: Floats) -> Floats:
        here = kept[place]
        transfer, wire = (
            _risen(each.at(here), before, ticks)
            for each, before in zip((reading.transfer, reading.wire), anchor, strict=True)
        )
        agreed = np.where(np.isnan(wire), transfer, np.minimum(transfer, wire))
        return np.where(reading.explained[here], agreed, np.minimum(agreed, 0.0))

    return compare


def _risen(now: Rise, before: Floats, ticks: Floats) -> Floats:
    """Beyond what is left after `ticks` of what was `before`, in standard deviations; see `run_deviation`."""
    ticks = np.where(before >= -_FAST_SIGMAS * np.hypot(now.noise, now.floor), ticks, np.inf)
    remains = now.autocorrelation**ticks
    # Nor is it expected to be fast.
    risen = now.rise - np.maximum(0.0, before) * remains
    return np.asarray(risen / np.hypot(now.noise * run_deviation(now.autocorrelation, remains, ticks), now.floor))
