"""Robust statistics inside groups, for all groups at once."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, Numbers

__all__ = ["MAD_TO_SIGMA", "group_mad", "group_median", "peers_median"]

Floats = npt.NDArray[np.float64]

# For a normal distribution the standard deviation is this times the median absolute deviation: 1 / Phi^-1(3/4).
MAD_TO_SIGMA = 1.482602218505602


def group_median(values: Floats, groups: Groups | Numbers) -> Floats:
    """The median of each group. values: shape (n,); groups, or the number of each row's; returns shape (m,)."""
    groups = _laid_out(groups)
    medians = np.empty(len(groups.size))
    for numbers, rows in groups.blocks:
        low, high = (rows.shape[1] - 1) // 2, rows.shape[1] // 2
        ordered = np.partition(values[rows], (low, high), axis=1)
        medians[numbers] = 0.5 * (ordered[:, low] + ordered[:, high])
    return medians


def group_mad(values: Floats, groups: Groups | Numbers, middle: Floats | None = None) -> Floats:
    """The median absolute deviation from the median, times MAD_TO_SIGMA, of each group. Shapes as group_median.

    `middle`: the medians, where they are known.
    """
    groups = _laid_out(groups)
    middle = group_median(values, groups) if middle is None else middle
    return MAD_TO_SIGMA * group_median(np.abs(values - middle[groups.of]), groups)


def peers_median(values: Floats, groups: Groups | Numbers) -> Floats:
    """For each value the median of the *others* in its group. Shape (n,); NaN where a group has one member."""
    groups = _laid_out(groups)
    result = np.full(len(values), np.nan)
    for _, rows in groups.blocks:
        size = rows.shape[1]
        if size > 1:
            result[rows] = _others(values[rows])
    return result


def _others(values: Floats) -> Floats:
    """For each value the median of the others in its row. Shape (groups, size), size at least 2."""
    size = values.shape[1]
    half = size // 2
    if size % 2 == 0:
        # An odd number of others: taking one away from below the middle moves it up, and the other way round.
        ordered = np.partition(values, (half - 1, half), axis=1)
        low, high = ordered[:, half - 1, None], ordered[:, half, None]
        return np.where(values <= low, high, low)
    ordered = np.partition(values, (half - 1, half, half + 1), axis=1)
    low, middle, high = (ordered[:, place, None] for place in (half - 1, half, half + 1))
    return np.where(values < middle, middle + high, np.where(values > middle, low + middle, low + high)) * 0.5


def _laid_out(groups: Groups | Numbers) -> Groups:
    return groups if isinstance(groups, Groups) else Groups.of_rows(groups)
