"""What each rank's lateness normally is: from the stored baseline, else learnt on the way."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.baseline.builder import BaselineLearner
from sentinel.config.detection import BaselineSettings
from sentinel.measure.index import grown
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.model.vocabulary import Vocabulary

__all__ = ["OwnHistory", "Reference"]

Floats = npt.NDArray[np.float64]

# What is learnt on the way is looked at again when it has doubled, and no more after this many times `min_ticks`:
# a baseline that trails for ever swallows what it should show.
_LEARNING_SPAN = 16


@dataclass(frozen=True)
class Reference:
    """Normal values for rows of lateness; NaN where nothing is known yet. Shape (n,)."""

    lateness_seconds: Floats
    spread_seconds: Floats  # standard deviation of this tick's lateness: see `OwnHistory.reference`
    wait_seconds: Floats
    wait_spread_seconds: Floats

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a history of their own."""
        return np.isfinite(self.lateness_seconds)


class OwnHistory:
    """The stored baseline, and a learner for every series that it does not cover."""

    def __init__(self, settings: BaselineSettings, baseline: Baseline | None) -> None:
        self._settings = settings
        self._baseline = baseline
        self._learner = BaselineLearner(settings, capacity=_LEARNING_SPAN * settings.min_ticks)
        self._table = np.empty((0, 5))
        self._learnt_ticks = np.empty(0)  # 0: nothing yet; infinity: settled
        self._rows_seen = 0

    def reference(self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary) -> Reference:
        """What is normal for these rows.

        Spreads are corrected for autocorrelation, for few samples, and for fewer operations in this tick than it was
        learnt from: what operations scatter by goes with the root of their number. More of them narrow nothing, as not
        all scatter is theirs.
        """
        rows = self._learner.roles.rows(lateness, membership, vocabulary)
        self._extend()
        values = np.full((len(rows), 5), np.nan)
        values[rows >= 0] = self._table[rows[rows >= 0]]
        normal, spread, wait, wait_spread, operations = values.T
        fewer = np.sqrt(np.maximum(1.0, operations / lateness.operations))
        return Reference(normal, spread * fewer, wait, wait_spread * fewer)

    def learn(
        self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary, fit: Callable[[int], bool]
    ) -> None:
        """Learn from a window what is not settled yet. `fit(comm)` says which communicators may be learnt from."""
        rows = self._learner.roles.rows(lateness, membership, vocabulary)
        self._extend()
        unsettled = rows >= 0
        unsettled[unsettled] = np.isfinite(self._learnt_ticks[rows[unsettled]])
        if not unsettled.any():
            return
        self._learner.add(lateness, np.where(unsettled, rows, -1), fit)
        for row in rows[unsettled].tolist():
            ticks, known = self._learner.ticks(row), self._learnt_ticks[row]
            if ticks >= self._settings.min_ticks and ticks >= 2 * known:
                self._table[row] = _values(self._learner.row(row))
                settled = ticks >= _LEARNING_SPAN * self._settings.min_ticks
                self._learnt_ticks[row] = np.inf if settled else ticks

    def _extend(self) -> None:
        """Look up the rows that are new in the stored baseline."""
        keys = self._learner.roles.keys
        self._table = grown(self._table, len(keys), np.nan)
        self._learnt_ticks = grown(self._learnt_ticks, len(keys), 0.0)
        for row in range(self._rows_seen, len(keys)):
            stored = self._baseline.by_key.get(keys[row]) if self._baseline else None
            if stored is not None and stored.ticks >= self._settings.min_ticks:
                self._table[row] = _values(stored)
                self._learnt_ticks[row] = np.inf
        self._rows_seen = len(keys)


def _values(row: BaselineRow) -> tuple[float, float, float, float, float]:
    """Lateness and wait, each with its spread for comparing single ticks, and operations in a tick.

    Averages of an AR(1) series scatter more than its values tell: by sqrt((1 + rho) / (1 − rho)). A spread that comes
    from n values is itself uncertain: t quantiles instead of normal ones (prediction interval of a normal sample).
    """
    few = float(np.sqrt(1 + 1 / row.ticks) * special.stdtrit(row.ticks - 1, 0.999) / special.ndtri(0.999))
    spreads = (
        spread * few * float(np.sqrt((1 + rho) / (1 - rho)))
        for spread, rho in (
            (row.lateness_spread_seconds, row.autocorrelation),
            (row.wait_spread_seconds, row.wait_autocorrelation),
        )
    )
    spread, wait_spread = spreads
    return row.lateness_seconds, spread, row.wait_seconds, wait_spread, row.operations / row.ticks
