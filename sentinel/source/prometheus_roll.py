"""Which ranks are there at an instant: one row each, and nobody whose samples have stopped."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import numpy as np
import numpy.typing as npt

from sentinel.model.vocabulary import Codes
from sentinel.source.prometheus_grid import Floats, Rows
from sentinel.source.prometheus_query import SAMPLES_SECONDS

__all__ = ["Roll"]

_INTERVALS_MISSED = 2.5  # the metric contract: one scrape may fail


@dataclass(frozen=True)
class Roll:
    """`present` are the label codes of ranks that are there, shape (n, labels), (comm, rank) first and never twice.

    `sampled_at` is the Unix time of the newest sample of each. `repeated` counts series about a rank that was described
    already. `gone` are the ranks whose last sample is too old.
    """

    present: Codes
    sampled_at: Floats
    repeated: int
    gone: npt.NDArray[np.int64]

    @classmethod
    def call(cls, time: float, described: Rows, samples: Rows | None, interval: timedelta | None) -> Self:
        """Look at the age of each rank's newest sample, as of the Unix `time`.

        `described` holds the Unix time of that sample, `samples` how many there were in the last
        `SAMPLES_SECONDS`: that over the count is the scrape interval, where `interval` does not tell. An exporter's
        series are all of one scrape.
        """
        keys, (newest,) = described
        pairs = _pairs(keys)
        age = time - newest
        if interval is not None:
            limit = np.full(len(keys), interval.total_seconds())
        else:
            limit = _measured_intervals(pairs, samples)
        fresh = age <= _INTERVALS_MISSED * limit
        kept = np.flatnonzero(fresh)
        # Where a rank is described twice (its pod moved, say), the newest sample is right.
        order = kept[np.lexsort((*keys[kept].T[::-1], age[kept], pairs[kept]))]
        first = np.ones(len(order), dtype=bool)
        first[1:] = pairs[order[1:]] != pairs[order[:-1]]
        gone = np.setdiff1d(pairs[~fresh], pairs[fresh])
        last = order[first]
        return cls(present=keys[last], sampled_at=newest[last], repeated=int((~first).sum()), gone=gone)

    def without_gone(self, rows: Rows) -> Rows:
        """The rows of ranks that are not known to be gone. (comm, rank) are the first two columns."""
        if not len(self.gone):
            return rows
        keys, values = rows
        there = ~np.isin(_pairs(keys), self.gone)
        return keys[there], tuple(value[there] for value in values)


def _measured_intervals(pairs: npt.NDArray[np.int64], samples: Rows | None) -> Floats:
    """Seconds between samples for each of `pairs`; infinite where nothing is known."""
    intervals = np.full(len(pairs), np.inf)
    if samples is None or not len(samples[0]):
        return intervals
    keys, (count,) = samples
    known = _pairs(keys)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, pairs, sorter=order), len(known) - 1)
    match = order[place]
    found = (known[match] == pairs) & (count[match] > 0)
    intervals[found] = SAMPLES_SECONDS / count[match[found]]
    return intervals


def _pairs(keys: Codes) -> npt.NDArray[np.int64]:
    """(comm, rank) as one number; ranks have at most nine digits."""
    pairs: npt.NDArray[np.int64] = keys[:, 0].astype(np.int64) * (1 << 32) + keys[:, 1]
    return pairs
