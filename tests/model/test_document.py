from types import MappingProxyType

import orjson
from servers.incidents import incident

from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.document import incident_document


def test_the_fields_are_those_of_the_contract() -> None:
    document = incident_document(incident(ended_at=1_795_981_080.0))
    assert list(document) == [
        "id", "verdict", "tier", "comm", "comm_name", "job_id", "ranks", "node", "gpu", "started_at", "detected_at",
        "ended_at", "cost_ratio", "evidence", "victims", "context", "silenced_by",
    ]  # fmt: skip
    assert document["ranks"] == [3]
    assert document["verdict"] == "late_rank"
    assert document["started_at"] == "2026-11-29T19:36:00.500Z"
    assert document["ended_at"] == "2026-11-29T19:38:00.000Z"


def test_it_is_json() -> None:
    note = ContextNote(Effect.NOTE, MappingProxyType({"alertname": "NodeDown"}), 1_795_980_000.0)
    document = incident_document(incident(context=(note,), silenced_by=(Silence("5e1f", "ops", "fan", 1.8e9),)))
    assert document["context"][0]["started_at"] == "2026-11-29T19:20:00.000Z"
    assert document["silenced_by"][0]["ends_at"] == "2027-01-15T08:00:00.000Z"
    assert orjson.loads(orjson.dumps(document)) == document
    assert document["ended_at"] is None
