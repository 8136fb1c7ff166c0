"""Incidents as the page tells them: those that go on, and those of the time that is kept."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sentinel.errors import StateError
from sentinel.history.record import Record
from sentinel.model.document import incident_document
from sentinel.model.incident import Incident
from sentinel.page.answer import UnknownError
from sentinel.page.evidence import evidence_parts, victim_ranks
from sentinel.sink.alert import AlertWriter, summarize
from sentinel.sink.graph import graph_query
from sentinel.state.store import State

__all__ = ["IncidentBook", "brief_document", "full_document"]


class IncidentBook:
    """What the daemon holds in memory, and the state's database for what is over. `directory`: of the state."""

    def __init__(self, record: Record, directory: Path) -> None:
        self._record = record
        self._directory = directory

    def since(self, time: float) -> tuple[list[Incident], str]:
        """Those that go on or ended after a Unix time, the newest first; and why some may be missing, else empty."""
        known, fault = self._read(lambda state: state.incidents_since(time))
        moment = self._record.moment
        for incident in moment.incidents if moment else ():
            if incident.ended_at is None or incident.ended_at > time:
                known[incident.id] = incident
        return sorted(known.values(), key=lambda each: (each.ended_at is not None, -each.started_at, each.id)), fault

    def find(self, id_: str) -> Incident:
        """The one with that id. UnknownError."""
        moment = self._record.moment
        for incident in moment.incidents if moment else ():
            if incident.id == id_:
                return incident
        known, fault = self._read(lambda state: state.incident(id_))
        if id_ not in known:
            raise UnknownError(fault or f"there is no incident {id_}")
        return known[id_]

    def _read(self, ask: Callable[[State], Iterable[Incident]]) -> tuple[dict[str, Incident], str]:
        try:
            with State.open_readonly(self._directory) as state:
                return {incident.id: incident for incident in ask(state)}, ""
        except StateError as error:
            return {}, f"{error.what}: {error.why}"


def brief_document(incident: Incident) -> dict[str, Any]:
    """A line of a list."""
    document = incident_document(incident)
    return {
        **{name: value for name, value in document.items() if name not in ("evidence", "context", "silenced_by")},
        "silenced": bool(incident.silenced_by),
        "summary": summarize(incident),
    }


def full_document(incident: Incident, writer: AlertWriter, selector: str, now: float) -> dict[str, Any]:
    """Everything about one. `evidence_parts` are the evidence in words; `links` may be absent one by one.

    `victim_ranks` are those that the evidence names, the first of them only.
    """
    alert = writer.write(incident, now)
    annotations = alert.annotations
    links = {
        "runbook": annotations.get("runbook_url", ""),
        "dashboard": annotations.get("dashboard_url", ""),
        "query": alert.generator_url,
    }
    return {
        **incident_document(incident),
        "summary": annotations["summary"],
        "description": annotations["description"],
        "alertname": alert.labels["alertname"],
        "labels": dict(alert.labels),
        "recurrences": incident.recurrences,
        "former_tiers": [each.tier.value for each in incident.former_tiers],
        "victim_ranks": victim_ranks(incident.evidence),
        "evidence_parts": evidence_parts(incident.evidence),
        "query": graph_query(incident.culprit, selector),
        "links": {name: url for name, url in links.items() if url.startswith(("http://", "https://"))},
    }
