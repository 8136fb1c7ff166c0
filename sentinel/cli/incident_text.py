"""Incidents as rows of a table."""

from collections.abc import Iterable, Iterator

from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.sink.alert import summarize

__all__ = ["INCIDENT_HEADERS", "incident_rows"]

INCIDENT_HEADERS = ("ID", "TIER", "STARTED", "ENDED", "COST", "WHAT")


def incident_rows(incidents: Iterable[Incident]) -> Iterator[tuple[str, ...]]:
    """A row for each."""
    for incident in incidents:
        yield (
            incident.id,
            incident.tier.value,
            format_instant(incident.started_at),
            "goes on" if incident.ended_at is None else format_instant(incident.ended_at),
            f"{incident.cost_ratio * 100:.3g}%",
            summarize(incident),
        )
