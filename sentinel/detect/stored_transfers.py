"""What the stored baseline says about transfers."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.measure.membership import Membership, Role
from sentinel.measure.transfers import Transfers
from sentinel.model.vocabulary import Vocabulary

__all__ = ["StoredTransfers"]

Floats = npt.NDArray[np.float64]
_Key = tuple[Role, str, str, str, str]


class StoredTransfers:
    """Logarithm of the shortest duration of each role's cells, its spread and autocorrelation, from its ranks' rows.

    The medians over ranks of those of their lateness stand for those of the transfer, which was not learnt: the spread
    is larger, since a rank's lateness carries the scatter of its own arrival too.
    """

    def __init__(self, baseline: Baseline | None, min_ticks: int) -> None:
        ranks: dict[_Key, list[BaselineRow]] = {}
        for row in baseline.rows if baseline else ():
            role, _, *labels = row.key
            if row.ticks >= min_ticks and row.duration_seconds > 0:
                ranks.setdefault((role, *labels), []).append(row)  # type: ignore[arg-type]
        self._normal: Mapping[_Key, tuple[float, float, float]] = {key: _normal(rows) for key, rows in ranks.items()}

    def look_up(
        self, transfers: Transfers, places: npt.NDArray[np.int64], membership: Membership, vocabulary: Vocabulary
    ) -> Floats:
        """Logarithm, spread and autocorrelation for the cells at `places`, shape (n, 3); NaN where not stored."""
        found = np.full((len(places), 3), np.nan)
        for at, place in enumerate(places.tolist() if self._normal else []):
            communicator = membership.communicators.get(int(transfers.comm[place]))
            if communicator is not None:
                columns = (transfers.op, transfers.size, transfers.algo, transfers.proto)
                op, size, algo, proto = (vocabulary.text(column[place]) for column in columns)
                found[at] = self._normal.get((communicator.role, op, size, algo, proto), np.nan)
        return found


def _normal(rows: list[BaselineRow]) -> tuple[float, float, float]:
    shortest = min(row.duration_seconds for row in rows)
    ticks = min(row.ticks for row in rows)
    # As for a rank's lateness: few values.
    few = np.sqrt(1 + 1 / ticks) * special.stdtrit(ticks - 1, 0.999) / special.ndtri(0.999)
    spread = few * np.median([row.lateness_spread_seconds for row in rows]) / shortest
    return float(np.log(shortest)), float(spread), float(np.median([row.autocorrelation for row in rows]))
