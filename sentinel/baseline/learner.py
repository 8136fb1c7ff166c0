"""Learning what is normal while it happens, in little memory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.baseline.history import ThinnedHistory
from sentinel.config.detection import BaselineSettings
from sentinel.measure.lateness import Lateness
from sentinel.measure.role_index import RoleIndex
from sentinel.measure.row_space import Column, Rows

__all__ = ["BaselineLearner", "Normal"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Normal:
    """What is normal for some series, shape (n,); fields as in `BaselineRow`."""

    ticks: Rows
    operations: Floats
    lateness_seconds: Floats
    lateness_spread_seconds: Floats
    autocorrelation: Floats
    wait_seconds: Floats
    wait_spread_seconds: Floats
    wait_autocorrelation: Floats


class BaselineLearner:
    """Learns on the way, from lateness that is already measured. `roles` numbers its series."""

    def __init__(self, settings: BaselineSettings, capacity: int = 512) -> None:
        self._settings = settings
        self.roles = RoleIndex()
        self._lateness, self._wait = (ThinnedHistory(self.roles, capacity) for _ in range(2))
        self._operations = Column(self.roles, 0.0)

    def add(self, lateness: Lateness, rows: Rows, fit: Callable[[int], bool]) -> None:
        """Learn from one window.

        `rows`, shape (n,), are the numbers that `roles` gave, −1 for what is not to be learnt. `fit(comm)` says which
        communicators are in a state to learn from.
        """
        keep = rows >= 0
        codes, inverse = np.unique(lateness.comm[keep], return_inverse=True)
        keep[keep] = np.array([fit(comm) for comm in codes.tolist()], dtype=bool)[inverse]
        rows = rows[keep]
        self._lateness.append(rows, lateness.lateness_seconds[keep])
        self._wait.append(rows, lateness.wait_seconds[keep])
        self._operations.values[rows] += lateness.operations[keep]

    def ticks(self, rows: Rows) -> Rows:
        """How many windows each series has been learnt from."""
        return self._lateness.counts(rows)

    def normal(self, rows: Rows) -> Normal:
        """What has been learnt of some series, each with a window at least."""
        lateness, wait = self._lateness.statistics(rows), self._wait.statistics(rows)
        return Normal(
            ticks=self.ticks(rows),
            operations=self._operations[rows],
            lateness_seconds=lateness.median,
            lateness_spread_seconds=lateness.spread,
            autocorrelation=lateness.autocorrelation,
            wait_seconds=wait.median,
            wait_spread_seconds=wait.spread,
            wait_autocorrelation=wait.autocorrelation,
        )
