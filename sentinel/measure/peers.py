"""Robust statistics inside groups, for all groups at once."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, Numbers

__all__ = ["MAD_TO_SIGMA", "group_mad", "group_median", "peers_median", "row_median"]

Floats = npt.NDArray[np.float64]

# For a normal distribution the standard deviation is this times the median absolute deviation: 1 / Phi^-1(3/4).
MAD_TO_SIGMA = 1.482602218505602

_SORTED = 16  # groups of up to this size are sorted: dividing them once takes longer


def group_median(values: Floats, groups: Groups | Numbers) -> Floats:
    """The median of each group. values: shape (n,); groups, or the number of each row's; returns shape (m,)."""
    groups = _laid_out(groups)
    medians = np.empty(len(groups.size))
    for numbers, rows in groups.blocks:
        medians[numbers] = row_median(values[rows])
    return medians


def row_median(values: Floats) -> Floats:
    """The median of each row, none of them NaN. values: shape (n, size), size at least 1; returns shape (n,)."""
    low, high = _around(values)
    return 0.5 * (low + high)


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
        low, high = (each[:, None] for each in _around(values))
        return np.where(values <= low, high, low)
    if size <= _SORTED:
        ordered = np.sort(values, axis=1)
    else:
        # What is around the middle is the largest below it and the smallest above it.
        ordered = np.partition(values, half, axis=1)
        ordered[:, half - 1] = ordered[:, :half].max(axis=1)
        ordered[:, half + 1] = np.fmin.reduce(ordered[:, half + 1 :], axis=1)
    low, middle, high = (ordered[:, place, None] for place in (half - 1, half, half + 1))
    return np.where(values < middle, middle + high, np.where(values > middle, low + middle, low + high)) * 0.5


def _around(values: Floats) -> tuple[Floats, Floats]:
    """The two values in the middle of each row, one and the same where it is odd. Shape (groups, size)."""
    half, is_odd = values.shape[1] // 2, values.shape[1] % 2
    if values.shape[1] <= _SORTED:
        ordered = np.sort(values, axis=1)
        return ordered[:, half - 1 + is_odd], ordered[:, half]
    ordered = np.partition(values, half, axis=1)
    high = ordered[:, half]
    return high if is_odd else ordered[:, :half].max(axis=1), high


def _laid_out(groups: Groups | Numbers) -> Groups:
    return groups if isinstance(groups, Groups) else Groups.of_rows(groups)
