"""Robust statistics inside groups, for all groups at once."""

import numpy as np
import numpy.typing as npt

__all__ = ["MAD_TO_SIGMA", "group_mad", "group_median", "peers_median"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]

# For a normal distribution the standard deviation is this times the median absolute deviation: 1 / Phi^-1(3/4).
MAD_TO_SIGMA = 1.482602218505602


def _layout(values: Floats, group: Groups) -> tuple[Groups, Groups, Groups]:
    """Order by (group, value); where each group starts in that order; its size. Groups are 0 … m − 1, none empty."""
    order = np.lexsort((values, group))
    size = np.bincount(group)
    return order, np.concatenate([[0], np.cumsum(size)[:-1]]), size


def group_median(values: Floats, group: Groups) -> Floats:
    """The median of each group. values, group: shape (n,), groups numbered 0 … m − 1; returns shape (m,)."""
    if not len(values):
        return np.empty(0)
    order, start, size = _layout(values, group)
    ordered = values[order]
    middle: Floats = 0.5 * (ordered[start + (size - 1) // 2] + ordered[start + size // 2])
    return middle


def group_mad(values: Floats, group: Groups) -> Floats:
    """The median absolute deviation from the median, times MAD_TO_SIGMA, of each group. Shapes as group_median."""
    if not len(values):
        return np.empty(0)
    return MAD_TO_SIGMA * group_median(np.abs(values - group_median(values, group)[group]), group)


def peers_median(values: Floats, group: Groups) -> Floats:
    """For each value the median of the *others* in its group. Shape (n,); NaN where a group has one member."""
    if not len(values):
        return np.empty(0)
    order, start, size = _layout(values, group)
    ordered = values[order]
    group_of = group[order]
    position = np.arange(len(values)) - start[group_of]
    others = size[group_of] - 1
    low, high = (others - 1) // 2, others // 2  # places of the two middle ones among the others
    low += low >= position
    high += high >= position
    alone = others == 0
    last = size[group_of] - 1
    low, high = np.clip(low, 0, last), np.clip(high, 0, last)
    middle = 0.5 * (ordered[start[group_of] + low] + ordered[start[group_of] + high])
    middle[alone] = np.nan
    result = np.empty_like(values)
    result[order] = middle
    return result
