"""Rank by rank: who is late, and how long its operations take."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sentinel.history.column import Column
from sentinel.history.roster import Roster
from sentinel.model.incident import Incident
from sentinel.page.heatmap import marks, matrix

__all__ = ["quantiles", "ranking_document"]

_MOST_RANKS: Final = 4096


def ranking_document(roster: Roster, columns: Sequence[Column], incidents: Iterable[Incident]) -> dict[str, Any]:
    """As JSON values, ordered by P95 of lateness: quantiles over the columns, and the newest value.

    All are seconds an operation.
    """
    late, duration = matrix(roster, columns, "lateness"), matrix(roster, columns, "duration")
    middle, high = quantiles(late.seconds, (0.5, 0.95)).T
    own_middle, own_high = quantiles(duration.seconds, (0.5, 0.95)).T
    newest = late.seconds[:, -1] if len(columns) else np.full(len(late.ranks), np.nan)
    accused: dict[int, list[str]] = {}
    for mark in marks(roster, incidents):
        for rank in mark["ranks"]:
            accused.setdefault(rank, []).append(mark["incident"])
    order = np.lexsort((late.ranks, -np.nan_to_num(high, nan=-np.inf)))[:_MOST_RANKS]
    rows = []
    for row in order.tolist():
        rank = int(late.ranks[row])
        place = roster.places[rank]
        rows.append(
            {
                "rank": rank,
                "global_rank": place.told_rank,
                "node": place.node,
                "gpu": place.gpu,
                "lateness_median_seconds": middle[row],
                "lateness_p95_seconds": high[row],
                "lateness_newest_seconds": newest[row],
                "duration_median_seconds": own_middle[row],
                "duration_p95_seconds": own_high[row],
                "incidents": accused.get(rank, []),
            }
        )
    return {"comm": roster.comm, "ranks": rows, "ranks_left_out": len(late.ranks) - len(order)}


def quantiles(values: npt.NDArray[np.float32], wanted: Sequence[float]) -> npt.NDArray[np.float64]:
    """Of each row, over what is known in it (linear interpolation); NaN where nothing is.

    values: shape (n, m). Returns shape (n, k).
    """
    ordered = np.sort(values, axis=1)  # NaN comes last
    known = np.count_nonzero(~np.isnan(ordered), axis=1)
    found = np.full((len(values), len(wanted)), np.nan)
    some = np.flatnonzero(known)
    for column, each in enumerate(wanted):
        place = each * (known[some] - 1)
        below = np.floor(place).astype(np.intp)
        above = np.minimum(below + 1, known[some] - 1)
        low, high = ordered[some, below], ordered[some, above]
        found[some, column] = low + (place - below) * (high - low)
    return found
