"""An incident as JSON: the same fields wherever it is printed or stored."""

from typing import Any

from sentinel.model.context import ContextNote, Silence
from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.model.place_rank import known_ranks

__all__ = ["incident_document"]


def incident_document(incident: Incident) -> dict[str, Any]:
    """JSON values only; times are RFC 3339 UTC."""
    culprit = incident.culprit
    return {
        "id": incident.id,
        "verdict": culprit.verdict.value,
        "tier": incident.tier.value,
        "comm": culprit.comm,
        "comm_name": culprit.comm_name,
        "job_id": culprit.job_id,
        "ranks": list(known_ranks(culprit.ranks)),
        "node": culprit.node,
        "gpu": culprit.gpu,
        "started_at": format_instant(incident.started_at),
        "detected_at": format_instant(incident.detected_at),
        "ended_at": None if incident.ended_at is None else format_instant(incident.ended_at),
        "cost_ratio": incident.cost_ratio,
        "evidence": dict(incident.evidence),
        "victims": incident.victims,
        "context": [_note_document(note) for note in incident.context],
        "silenced_by": [_silence_document(silence) for silence in incident.silenced_by],
    }


def _note_document(note: ContextNote) -> dict[str, Any]:
    return {
        "alertname": note.name,
        "effect": note.effect.value,
        "labels": dict(note.labels),
        "started_at": format_instant(note.started_at),
        "ended_at": None if note.ended_at is None else format_instant(note.ended_at),
    }


def _silence_document(silence: Silence) -> dict[str, Any]:
    return {
        "id": silence.id,
        "created_by": silence.created_by,
        "comment": silence.comment,
        "ends_at": format_instant(silence.ends_at),
    }
