"""What each rank's lateness normally is: from the stored baseline, else learnt on the way."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.baseline.learner import BaselineLearner, Normal
from sentinel.config.detection import BaselineSettings
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.row_space import Column, Rows
from sentinel.model.vocabulary import Vocabulary

__all__ = ["OwnHistory", "Reference"]

Floats = npt.NDArray[np.float64]

# What is learnt on the way is looked at again when it has doubled, and no more after this many times `min_ticks`:
# a baseline that trails for ever swallows what it should show.
_LEARNING_SPAN = 16
# A job that is down over night is the same one when it comes back. Job ids are often new with each start, and then
# nobody comes back: what is kept has to end.
_REMEMBERED_SECONDS = 86_400.0


@dataclass(frozen=True)
class Reference:
    """Normal values for rows of lateness; NaN where nothing is known yet. Shape (n,)."""

    lateness_seconds: Floats
    spread_seconds: Floats  # standard deviation of this tick's lateness: see `OwnHistory.reference`
    autocorrelation: Floats  # from one tick to the next
    wait_seconds: Floats
    wait_spread_seconds: Floats
    wait_autocorrelation: Floats

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
        roles = self._learner.roles
        self._table = Column(roles, np.nan, (7,))
        self._learnt_ticks = Column(roles, 0.0)  # 0: nothing yet; infinity: settled
        self._is_looked_up = Column(roles, False, dtype=np.bool_)  # in the stored baseline

    def reference(self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary) -> Reference:
        """What is normal for these rows.

        Spreads are corrected for few samples, and for fewer operations in this tick than it was learnt from: what
        operations scatter by goes with the root of their number. More of them narrow nothing, as not all scatter is
        theirs.
        """
        rows = self._rows(lateness, membership, vocabulary)
        values = np.full((len(rows), 7), np.nan)
        values[rows >= 0] = self._table[rows[rows >= 0]]
        normal, spread, rho, wait, wait_spread, wait_rho, operations = values.T
        fewer = np.sqrt(np.maximum(1.0, operations / lateness.operations))
        return Reference(normal, spread * fewer, rho, wait, wait_spread * fewer, wait_rho)

    def learn(
        self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary, fit: Callable[[int], bool]
    ) -> None:
        """Learn from a window what is not settled yet. `fit(comm)` says which communicators may be learnt from."""
        rows = self._rows(lateness, membership, vocabulary)
        unsettled = rows >= 0
        unsettled[unsettled] = np.isfinite(self._learnt_ticks[rows[unsettled]])
        if not unsettled.any():
            return
        self._learner.add(lateness, np.where(unsettled, rows, -1), fit)
        mine = rows[unsettled]
        ticks = self._learner.ticks(mine)
        due = (ticks >= self._settings.min_ticks) & (ticks >= 2 * self._learnt_ticks[mine])
        mine, ticks = mine[due], ticks[due]
        if len(mine):
            self._table[mine] = _values(self._learner.normal(mine))
            settled = ticks >= _LEARNING_SPAN * self._settings.min_ticks
            self._learnt_ticks[mine] = np.where(settled, np.inf, ticks)

    def forget(self, membership: Membership, time: float) -> None:
        """Forget what was learnt of roles that nobody has had for a day, as of the Unix time `time`."""
        self._learner.roles.forget(membership, time, _REMEMBERED_SECONDS)

    def _rows(self, lateness: Lateness, membership: Membership, vocabulary: Vocabulary) -> Rows:
        """Whose series these are; those that are new are looked up in the stored baseline."""
        rows = self._learner.roles.rows(lateness, membership, vocabulary)
        new = rows[(rows >= 0) & ~self._is_looked_up[rows]]
        if len(new):
            self._is_looked_up[new] = True
            self._look_up(new)
        return rows

    def _look_up(self, new: Rows) -> None:
        keys = self._learner.roles.keys
        stored: dict[int, BaselineRow] = {}
        for row in new.tolist():
            found = self._baseline.by_key.get(keys[row]) if self._baseline else None
            if found is not None and found.ticks >= self._settings.min_ticks:
                stored[row] = found
        if stored:
            rows = np.fromiter(stored, dtype=np.int64)
            columns = ([getattr(one, field.name) for one in stored.values()] for field in fields(Normal))
            self._table[rows] = _values(Normal(*(np.array(column) for column in columns)))
            self._learnt_ticks[rows] = np.inf


def _values(normal: Normal) -> Floats:
    """Lateness and wait, each with its spread and its autocorrelation, and operations in a tick. Shape (n, 7).

    A spread that comes from n values is itself uncertain: t quantiles instead of normal ones (prediction interval of a
    normal sample).
    """
    ticks, which = np.unique(normal.ticks, return_inverse=True)
    few = (np.sqrt(1 + 1 / ticks) * special.stdtrit(ticks - 1, 0.999) / special.ndtri(0.999))[which]
    return np.stack(
        [
            normal.lateness_seconds,
            normal.lateness_spread_seconds * few,
            normal.autocorrelation,
            normal.wait_seconds,
            normal.wait_spread_seconds * few,
            normal.wait_autocorrelation,
            normal.operations / normal.ticks,
        ],
        axis=1,
    )
