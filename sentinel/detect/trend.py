"""Slow upward trends in many short series at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["Ramp", "autocorrelation", "benjamini_hochberg", "fit_lines", "fit_ramps", "mann_kendall", "step_misfit"]

Floats = npt.NDArray[np.float64]

_SHORTEST_RAMP = 12  # values; what rises faster is a step


def mann_kendall(values: Floats, autocorrelation: Floats) -> Floats:
    """One-sided p-values of an upward trend. values: shape (n, t), NaN where unknown; autocorrelation: shape (n,).

    The variance of Kendall's S is inflated for autocorrelation as by Hamed and Rao (A modified Mann-Kendall trend test
    for autocorrelated data, J. Hydrology 204, 1998, eq. 9), with the ranks' autocorrelations those of an AR(1) normal
    series: (6 / pi) asin(rho^k / 2).
    """
    known = np.isfinite(values)
    score = np.zeros(len(values))
    for lag in range(1, values.shape[1]):
        score += np.nansum(np.sign(values[:, lag:] - values[:, :-lag]), axis=1)
    n = known.sum(axis=1).astype(np.float64)
    variance = n * (n - 1) * (2 * n + 5) / 18
    lags = np.arange(1, values.shape[1])
    ranks = 6 / np.pi * np.arcsin(autocorrelation[:, None] ** lags / 2)
    weights = np.prod([np.maximum(0.0, n[:, None] - lags - less) for less in range(3)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = 1 + 2 * (weights * ranks).sum(axis=1) / (n * (n - 1) * (n - 2))
        z = np.maximum(0.0, score - 1) / np.sqrt(variance * inflation)
    p: Floats = np.where(n >= 3, special.ndtr(-z), 1.0)
    return p


@dataclass(frozen=True)
class Ramp:
    """The flat line that bends upwards which fits best. Shape (n,)."""

    begins: npt.NDArray[np.int64]  # place of the bend
    level: Floats  # before it
    slope: Floats  # after it, per place
    misfit: Floats  # sum of squares
    residuals: Floats  # shape (n, t)


def fit_ramps(values: Floats) -> Ramp:
    """Least squares of level + slope × max(0, place − begins). values: shape (n, t), NaN where unknown."""
    known = np.isfinite(values)
    y, n, places = np.where(known, values, 0.0), known.sum(axis=1), np.arange(values.shape[1])
    best: Ramp | None = None
    for begins in range(values.shape[1] - _SHORTEST_RAMP + 1):
        x = np.where(known, np.maximum(0, places - begins), 0.0)
        mean_x, mean_y = x.sum(axis=1) / n, y.sum(axis=1) / n
        spread = (x * x).sum(axis=1) - n * mean_x**2
        slope = np.divide((x * y).sum(axis=1) - n * mean_x * mean_y, spread, out=np.zeros(len(y)), where=spread > 0)
        level = mean_y - slope * mean_x
        residuals = np.where(known, values - level[:, None] - slope[:, None] * x, np.nan)
        ramp = Ramp(np.full(len(y), begins), level, slope, np.nansum(residuals**2, axis=1), residuals)
        best = ramp if best is None else _better(best, ramp)
    assert best is not None  # noqa: S101 (there are more values than a ramp is long)
    return best


def fit_lines(values: Floats) -> Floats:
    """What least squares lines leave over. values: shape (n, t), NaN where unknown; returns shape (n, t)."""
    known = np.isfinite(values)
    n, x = known.sum(axis=1), np.where(known, np.arange(values.shape[1], dtype=np.float64), 0.0)
    x = np.where(known, x - (x.sum(axis=1) / n)[:, None], 0.0)
    y = values - np.nanmean(values, axis=1, keepdims=True)
    slope = np.nansum(x * y, axis=1) / (x * x).sum(axis=1)
    residuals: Floats = y - slope[:, None] * x
    return residuals


def _better(one: Ramp, other: Ramp) -> Ramp:
    take = other.misfit < one.misfit
    return Ramp(
        np.where(take, other.begins, one.begins),
        np.where(take, other.level, one.level),
        np.where(take, other.slope, one.slope),
        np.where(take, other.misfit, one.misfit),
        np.where(take[:, None], other.residuals, one.residuals),
    )


def step_misfit(values: Floats) -> Floats:
    """The sum of squares about two levels, one before and one after the place that suits best. Shape (n,)."""
    known = np.isfinite(values)
    y = np.where(known, values, 0.0)
    count, total, squares = known.cumsum(axis=1), y.cumsum(axis=1), (y**2).sum(axis=1)
    before, after = count[:, :-1], count[:, -1:] - count[:, :-1]
    explained = np.divide(total[:, :-1] ** 2, before, out=np.zeros_like(y[:, 1:]), where=before > 0)
    rest = total[:, -1:] - total[:, :-1]
    explained += np.divide(rest**2, after, out=np.zeros_like(y[:, 1:]), where=after > 0)
    misfit: Floats = squares - explained.max(axis=1)
    return misfit


def autocorrelation(residuals: Floats) -> Floats:
    """The lag-1 autocorrelation of each series, NaN where unknown. residuals: shape (n, t); returns shape (n,).

    That of so few values comes out too low by about (1 + 3 rho) / n, which is added (F. H. C. Marriott and J. A. Pope,
    Bias in the estimation of autocorrelations, Biometrika 41, 1954).
    """
    known = np.isfinite(residuals)
    centred = np.where(known, residuals - np.nanmean(residuals, axis=1, keepdims=True), 0.0)
    power = (centred**2).sum(axis=1)
    together = (centred[:, 1:] * centred[:, :-1]).sum(axis=1)
    raw = np.divide(together, power, out=np.zeros(len(power)), where=power > 0)
    corrected: Floats = raw + (1 + 3 * raw) / known.sum(axis=1)
    return corrected


def benjamini_hochberg(p: Floats, tests: int, level: float) -> npt.NDArray[np.bool_]:
    """Which of `p` are rejected among `tests` in all, the others' p being 1, at a false discovery rate of `level`.

    Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995.
    """
    order = np.argsort(p, kind="stable")
    passed = np.flatnonzero(p[order] <= level * np.arange(1, len(p) + 1) / max(1, tests))
    rejected = np.zeros(len(p), dtype=bool)
    if len(passed):
        rejected[order[: passed[-1] + 1]] = True
    return rejected
