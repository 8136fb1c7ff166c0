"""Operations that were launched and not measured: each that was stands for others."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.measure.labels import Labels

__all__ = ["sampling_scale"]

Floats = npt.NDArray[np.float64]


def sampling_scale(measured: Labels, operations: Floats, launched: Labels, count: Floats, *names: str) -> Floats:
    """How many operations each measured one stands for: launched over measured, of all rows alike in columns `names`.

    `operations`, shape (n,), are those that were measured; `count`, shape (m,), those that were launched, NaN where
    that is not known. Returns shape (n,), at least 1: launched falls short of measured only by what was in flight when
    the window began.
    """
    mine, theirs = measured.groups(*names), launched.groups(*names)
    both, _ = group_rows(
        *(np.concatenate([measured[name][mine.first], launched[name][theirs.first]]) for name in names)
    )
    total = np.zeros(int(both.max(initial=-1)) + 1)
    total[both[len(mine) :]] = np.bincount(theirs.of, np.where(np.isfinite(count), count, 0.0), len(theirs))
    counted = np.bincount(mine.of, operations, len(mine)).astype(np.float64)
    ratio = np.divide(total[both[: len(mine)]], counted, out=np.zeros(len(mine)), where=counted > 0)
    scale: Floats = np.maximum(1.0, ratio)[mine.of]
    return scale
