"""Incidents for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.model.quantity import format_quantity
from sentinel.sink.alert import summarize

__all__ = ["INCIDENT_HEADERS", "explanation", "incident_rows"]

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


def explanation(incident: Incident) -> Iterator[str]:
    """Line by line: who and what, when, what it costs, and all of the evidence."""
    culprit = incident.culprit
    yield summarize(incident)
    yield ""
    facts = {
        "incident": incident.id,
        "verdict": culprit.verdict.value,
        "tier": incident.tier.value,
        "job": culprit.job_id,
        "communicator": " ".join(part for part in (culprit.comm_name, culprit.comm) if part),
        "ranks": ", ".join(str(rank) for rank in culprit.ranks),
        "node": culprit.node,
        "gpu": culprit.gpu,
        "started": format_instant(incident.started_at),
        "detected": format_instant(incident.detected_at),
        "ended": "goes on" if incident.ended_at is None else format_instant(incident.ended_at),
        "cost": f"{incident.cost_ratio * 100:.3g}% of the job's time",
        "victims": str(incident.victims),
    }
    width = max(len(name) for name in facts)
    yield from (f"{name:<{width}}  {value}" for name, value in facts.items() if value)
    yield ""
    yield "Evidence"
    yield from _lines(incident.evidence, "  ")


def _lines(evidence: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in evidence.items():
        name, text = format_quantity(key, value)
        if isinstance(value, Mapping):
            yield f"{indent}{key.replace('_', ' ')}"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _list_lines(key, value, indent)
        elif value is not None:
            yield f"{indent}{name}: {text}"


def _list_lines(key: str, values: Sequence[Any], indent: str) -> Iterator[str]:
    name = key.replace("_", " ")
    if not values:
        return
    if not any(isinstance(value, Mapping) for value in values):
        yield f"{indent}{name}: {', '.join(format_quantity(key, value)[1] for value in values)}"
        return
    yield f"{indent}{name}"
    for value in values:
        pairs = (format_quantity(inner, each) for inner, each in value.items())
        yield f"{indent}  - " + ", ".join(f"{inner} {text}" for inner, text in pairs)
