import orjson
from servers.incidents import incident

from sentinel.model.document import incident_document


def test_the_fields_are_those_of_the_contract() -> None:
    document = incident_document(incident(ended_at=1_795_981_080.0))
    assert list(document) == [
        "id", "verdict", "tier", "comm", "comm_name", "job_id", "ranks", "node", "gpu", "started_at", "detected_at",
        "ended_at", "cost_ratio", "evidence", "victims",
    ]  # fmt: skip
    assert document["ranks"] == [3]
    assert document["verdict"] == "late_rank"
    assert document["started_at"] == "2026-11-29T19:36:00.500Z"
    assert document["ended_at"] == "2026-11-29T19:38:00.000Z"


def test_it_is_json() -> None:
    document = incident_document(incident())
    assert orjson.loads(orjson.dumps(document)) == document
    assert document["ended_at"] is None
