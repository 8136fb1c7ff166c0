"""The picture of an incident: its culprits, and the others as a band, over time."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sentinel.history.column import Column
from sentinel.history.past import Past
from sentinel.history.roster import Place, Roster
from sentinel.model.incident import Incident
from sentinel.page.heatmap import QUANTITIES, matrix
from sentinel.page.ranking import quantiles

__all__ = ["course_document"]

_CULPRITS_SHOWN: Final = 8  # as many lines as eyes tell apart
_PEERS: Final = (0.1, 0.5, 0.9)
_BEFORE_RATIO: Final = 0.5  # of how long it lasted is shown before it, and after it
_LEAST_BEFORE_SECONDS: Final = 600.0


def course_document(past: Past, incident: Incident, now: float) -> tuple[dict[str, Any] | None, str]:
    """As JSON values; None where nothing of its communicator and its time is kept. Times are Unix seconds.

    And why it may be less than what was kept, else empty.
    """
    end = incident.ended_at if incident.ended_at is not None else now
    margin = max(_LEAST_BEFORE_SECONDS, _BEFORE_RATIO * (end - incident.started_at))
    fault = ""
    for ticks in (True, False):
        kept, fault = past.columns(incident.culprit.comm, ticks)
        # Ticks where they reach back to its start.
        if kept is None or (ticks and (not kept.columns or kept.columns[0].time > incident.started_at)):
            continue
        shown = [each for each in kept.columns if incident.started_at - margin <= each.time <= end + margin]
        if any(len(each.means.ranks) for each in shown):
            return _document(kept.roster, shown, incident), fault
    return None, fault


def _document(roster: Roster, columns: Sequence[Column], incident: Incident) -> dict[str, Any]:
    named = frozenset(incident.culprit.ranks)
    accused = {place.global_rank: rank for rank, place in roster.places.items() if place.global_rank in named}
    drawn = sorted(accused)[:_CULPRITS_SHOWN]
    document: dict[str, Any] = {
        "times": [column.time for column in columns],
        "culprits": [_who(roster.places[accused[rank]]) for rank in drawn],
        "started_at": incident.started_at,
        "detected_at": incident.detected_at,
        "ended_at": incident.ended_at,
    }
    for quantity in QUANTITIES:
        whole = matrix(roster, columns, quantity)
        others = ~np.isin(whole.ranks, list(accused.values()))
        low, middle, high = quantiles(np.ascontiguousarray(whole.seconds[others].T), _PEERS).T
        rows = [np.flatnonzero(whole.ranks == accused[rank]) for rank in drawn]
        document[f"{quantity}_seconds"] = {
            "culprits": [_values(whole.seconds[row[0]]) for row in rows],
            "peers_p10": _values(low),
            "peers_median": _values(middle),
            "peers_p90": _values(high),
        }
    return document


def _who(place: Place) -> dict[str, Any]:
    return {"global_rank": place.told_rank, "node": place.node, "gpu": place.gpu}


def _values(values: npt.NDArray[np.floating]) -> list[float]:
    found: list[float] = values.astype(np.float64).tolist()
    return found
