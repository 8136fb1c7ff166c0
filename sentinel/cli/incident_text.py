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
            summarize(incident) + _remarks(incident),
        )


def _remarks(incident: Incident) -> str:
    """Who has silenced it, and what else is known there; `sentinel explain` has all of it."""
    muted = incident.silenced_by[:1]
    remarks = [f"silenced until {format_instant(each.ends_at)} by {each.created_by}" for each in muted]
    remarks += [each.name for each in incident.context[:3] if each.name]
    return f" ({'; '.join(remarks)})" if remarks else ""
