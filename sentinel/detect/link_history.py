"""How each link stands to its own history and to its peers, in one tick."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.detect.learnt_normal import LearntNormal
from sentinel.detect.pool import MIN_PEERS
from sentinel.measure.groups import group_rows
from sentinel.measure.peers import group_mad, group_median, peers_median
from sentinel.measure.row_space import Rows, RowSpace
from sentinel.measure.step_times import StepTimes

__all__ = ["LinkHistory", "LinkReading"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Where the other links of a group have moved by more than this, messages are others than they were: what was normal
# for a link among them says nothing.
_SAME_MESSAGES_RATIO = 1.5


@dataclass(frozen=True)
class LinkReading:
    """One value a link, shape (n,). Logarithms and spreads are of the seconds that a step takes.

    Without a history (`known` is False) a link is compared with its peers as they are now.
    """

    known: Flags
    ratio: Floats  # how many times as long as normal, and as its peers' against theirs, whichever is less
    sigmas: Floats  # the same in standard deviations; 0 without a history
    stands_out: Floats  # among the links of its group, in robust standard deviations; NaN below MIN_PEERS


class LinkHistory:
    """Learns the normal of each link, by itself and against its peers.

    A fault elsewhere makes the others' steps shorter, and a congested network makes all of them longer: only a link
    that is slower in both ways has become slow itself.
    """

    def __init__(self, min_ticks: int, noise_floor_ratio: float, least_seconds: float, space: RowSpace) -> None:
        """`space` numbers the links.

        What differs by less than `least_seconds` a step does not set links apart while there is no history.
        """
        self._own = LearntNormal(min_ticks, space)
        self._against_peers = LearntNormal(min_ticks, space)
        self._floor = noise_floor_ratio
        self._least = least_seconds

    def read(self, rows: Rows, times: StepTimes) -> LinkReading:
        """`rows`, shape (n,), are the numbers of the links of `times`."""
        own, against = np.log(times.step_seconds), np.log(times.step_seconds / times.peers_seconds)
        own_normal, against_normal = self._own.normal(rows), self._against_peers.normal(rows)
        own_rise, rise = own - own_normal.centre, against - against_normal.centre
        own_spread, spread = (np.hypot(each.lasting_spread, self._floor) for each in (own_normal, against_normal))
        known = np.isfinite(own_rise) & np.isfinite(rise) & _same_messages(own_rise, times)
        stands_out = np.full(len(rows), np.nan)
        if not known.all():
            stands_out = self._stands_out(np.log(times.step_seconds + self._least), times.group)
        stands_out[known] = self._stands_out(own_rise[known], times.group[known])
        return LinkReading(
            known=known,
            ratio=np.exp(
                np.nan_to_num(np.where(known, np.minimum(own_rise, rise), against))
            ),  # nobody to compare with: 1
            sigmas=np.where(known, np.minimum(own_rise / own_spread, rise / spread), 0.0),
            stands_out=stands_out,
        )

    def learn(self, rows: Rows, times: StepTimes, fit: Flags) -> None:
        """Learn from the links that `fit`, shape (n,), selects."""
        self._own.append(rows[fit], np.log(times.step_seconds[fit]))
        self._against_peers.append(rows[fit], np.log(times.step_seconds / times.peers_seconds)[fit])

    def _stands_out(self, values: Floats, keys: npt.NDArray[np.int64]) -> Floats:
        """How far each is from the median of those with the same key, in robust standard deviations."""
        if not len(values):
            return np.empty(0)
        group, _ = group_rows(keys)
        scale = np.maximum(group_mad(values, group), self._floor)[group]  # a MAD of zero is a normal case
        distance = (values - group_median(values, group)[group]) / scale
        return np.where(np.bincount(group)[group] >= MIN_PEERS, distance, np.nan)


def _same_messages(own_rise: Floats, times: StepTimes) -> Flags:
    """Whether the links that a link is compared with are about what they were. A new one is, as far as is known."""
    rise = np.nan_to_num(own_rise)
    size = np.bincount(times.group)[times.group] if len(rise) else np.empty(0)
    # In a small group a link's own rise would move the median.
    together = group_median(rise, times.group)[times.group] if len(rise) else rise
    moved = np.where(size >= MIN_PEERS, together, peers_median(rise, times.group))
    return np.asarray(np.abs(moved) <= np.log(_SAME_MESSAGES_RATIO))
