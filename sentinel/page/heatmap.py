"""Ranks by time: a matrix of one quantity, and where in it the culprits are."""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import orjson

from sentinel.history.column import Column
from sentinel.history.roster import Roster
from sentinel.model.incident import Incident

__all__ = ["QUANTITIES", "Matrix", "heatmap_document", "marks", "matrix", "packed"]

Quantity = Literal["lateness", "duration"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("lateness", "duration")

_MOST_ROWS: Final = 4096  # as many as a browser draws at once


@dataclass(frozen=True)
class Matrix:
    """`ranks`: shape (n,), ascending. `seconds`: shape (n, m), NaN where nothing is known."""

    ranks: npt.NDArray[np.int32]
    seconds: npt.NDArray[np.float32]

    def rows(self, kept: npt.NDArray[np.intp]) -> "Matrix":
        """Some of its ranks, by their row."""
        return Matrix(self.ranks[kept], self.seconds[kept])


def matrix(roster: Roster, columns: Sequence[Column], quantity: Quantity) -> Matrix:
    """Of everybody in the communicator."""
    ranks = np.array(sorted(roster.places), dtype=np.int32)
    seconds = np.full((len(ranks), len(columns)), np.nan, dtype=np.float32)
    before: npt.NDArray[np.int32] | None = None
    place, known = np.empty(0, dtype=np.intp), np.empty(0, dtype=bool)
    for at, column in enumerate(columns):
        means = column.means
        if means.ranks is not before:
            before = means.ranks
            place = np.minimum(np.searchsorted(ranks, before), max(0, len(ranks) - 1))
            known = ranks[place] == before if len(ranks) else np.zeros(len(before), dtype=bool)
        values = means.lateness_seconds if quantity == "lateness" else means.duration_seconds
        seconds[place[known], at] = values[known]
    return Matrix(ranks, seconds)


def marks(roster: Roster, incidents: Iterable[Incident]) -> list[dict[str, Any]]:
    """Incidents of the communicator's job that touch it, with the ranks in it that they name; none: all of it."""
    ranks_of: dict[int, int] = {place.global_rank: rank for rank, place in roster.places.items()}
    found = []
    for incident in incidents:
        culprit = incident.culprit
        named = sorted(ranks_of[rank] for rank in culprit.ranks if rank in ranks_of)
        if culprit.job != roster.job or not (named or (not culprit.ranks and culprit.comm == roster.comm)):
            continue
        found.append(
            {
                "incident": incident.id,
                "verdict": culprit.verdict.value,
                "tier": incident.tier.value,
                "ranks": named,
                "started_at": incident.started_at,
                "ended_at": incident.ended_at,
            }
        )
    return found


def heatmap_document(
    roster: Roster, columns: Sequence[Column], quantity: Quantity, incidents: Iterable[Incident]
) -> dict[str, Any]:
    """As JSON values. Times are Unix seconds; rows are in the order of ranks.

    Past 4,096 ranks those are left out whose values lie nearest to the others', but never one that is marked.
    """
    whole, named = matrix(roster, columns, quantity), marks(roster, incidents)
    shown = _conspicuous(whole, {rank for each in named for rank in each["ranks"]})
    places = [roster.places[rank] for rank in shown.ranks.tolist()]
    return {
        "comm": roster.comm,
        "comm_name": roster.comm_name,
        "job": roster.job,
        "job_id": roster.job_id,
        "quantity": quantity,
        "times": [column.time for column in columns],
        "states": [column.state for column in columns],
        "findings": [column.findings for column in columns],
        "ranks": shown.ranks.tolist(),
        "global_ranks": [each.told_rank for each in places],
        "nodes": [each.node for each in places],
        "gpus": [each.gpu for each in places],
        "ranks_left_out": len(whole.ranks) - len(shown.ranks),
        "seconds": packed(shown.seconds),
        "marks": named,
    }


def packed(values: npt.NDArray[np.float32]) -> dict[str, Any]:
    """A matrix as text: little-endian float32, row by row, in base64; numbers are rounded to three digits and a bit.

    The rest of a number is noise, and would be most of what is sent.
    """
    bits = np.array(values, dtype="<f4", order="C").view("<u4")
    # In place: a day of many ranks is large.
    bits += np.uint32(0x800)
    bits &= np.uint32(0xFFFFF000)
    bits[~np.isfinite(values)] = 0x7FC00000
    # Ready as JSON: for a text orjson takes ten times its size while it looks for what is to be escaped.
    text = orjson.Fragment(b'"%b"' % base64.b64encode(bits.data))
    return {"type": "float32", "shape": list(values.shape), "base64": text}


def _conspicuous(whole: Matrix, marked: set[int]) -> Matrix:
    """The rows to show, in order."""
    if len(whole.ranks) <= _MOST_ROWS:
        return whole
    seconds = np.nan_to_num(whole.seconds)
    apart = np.abs(seconds - np.median(seconds, axis=0)).mean(axis=1)
    apart[np.isin(whole.ranks, list(marked))] = np.inf
    return whole.rows(np.sort(np.argsort(-apart, kind="stable")[:_MOST_ROWS]))
