"""What an autocorrelated series is compared with: where it stood before it began to rise."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sentinel.measure.row_space import Column, Rows, RowSpace

__all__ = ["Anchors", "Comparison"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

Comparison = Callable[[Rows, Floats, Floats], Floats]
"""From places among the series of a tick, shape (m,), what each was at its anchor, shape (columns, m), and how many
ticks ago that was, at least 1 and infinite where there is none: the standard deviations by which it exceeds that."""


class Anchors:
    """By series: its values at the last tick, and at the anchor, which is the last tick before its run.

    An AR(1) series is expected to keep a part rho^n of where it stood n ticks ago, and no more: what exceeds that is
    news, and stands out far sooner than against all that it may ever wander. Without autocorrelation the anchor does
    not matter.
    """

    def __init__(self, columns: int, space: RowSpace) -> None:
        self._tick = 0
        # The values, and which tick that was.
        self._last, self._anchor = (Column(space, np.nan, (columns + 1,)) for _ in range(2))

    def step(
        self, rows: Rows, values: Floats, compare: Comparison, sums: Floats, clip: Floats | float, rising: Flags
    ) -> tuple[Floats, Flags]:
        """One tick of some series, shape (n,), no row twice; `values` has shape (columns, n).

        `sums`: of their CUSUMs so far; `clip`: what one tick can add to them; `rising`: which may get a sum now. Who
        has none and gets none need not be compared. Returns standard deviations, 0 for those, and which runs begin
        anew, as that says more than to go on.
        """
        self._tick += 1
        asked = np.flatnonzero(rising | (sums > 0))
        last = self._last[rows[asked]]
        witness = np.zeros(len(rows))
        witness[asked] = self._compare(compare, asked, last)
        alive = np.flatnonzero(sums > 0)
        running = self._compare(compare, alive, self._anchor[rows[alive]])
        most = np.broadcast_to(clip, len(rows))[alive]
        goes_on = sums[alive] + np.minimum(running, most) > np.minimum(witness[alive], most)
        kept = alive[goes_on]
        witness[kept] = running[goes_on]
        anew = np.ones(len(rows), dtype=bool)
        anew[kept] = False
        begins = anew[asked]
        self._anchor[rows[asked[begins]]] = last[begins]
        for column, now in enumerate([*values, self._tick]):
            self._last.values[rows, column] = now
        return witness, anew & (sums > 0)

    def _compare(self, compare: Comparison, place: Rows, anchor: Floats) -> Floats:
        *values, tick = anchor.T
        ticks = np.where(np.isnan(tick), np.inf, self._tick - tick)
        return compare(place, np.nan_to_num(np.array(values)), ticks)
