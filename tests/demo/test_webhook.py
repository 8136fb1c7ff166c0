import httpx
import pytest

from sentinel.demo.webhook import WebhookReceiver


def alert(status: str, fingerprint: str = "1f") -> dict[str, object]:
    times = {"startsAt": "2026-01-01T00:00:00Z", "endsAt": "0001-01-01T00:00:00Z"}
    texts = {"labels": {"alertname": "NcclRankLate"}, "annotations": {}, "generatorURL": ""}
    return {"status": status, "fingerprint": fingerprint, **times, **texts}


@pytest.fixture
def receiver():
    receiver = WebhookReceiver()
    yield receiver
    receiver.close()


def test_keeps_alerts_in_the_order_of_delivery(receiver):
    httpx.post(receiver.url, json={"alerts": [alert("firing", "a"), alert("firing", "b")]}).raise_for_status()
    httpx.post(receiver.url, json={"alerts": [alert("resolved", "a")]}).raise_for_status()

    assert [(each["status"], each["fingerprint"]) for each in receiver.alerts()] == [
        ("firing", "a"),
        ("firing", "b"),
        ("resolved", "a"),
    ]


def test_tells_when_the_first_of_a_kind_came(receiver):
    assert receiver.delivered_at("firing") is None
    httpx.post(receiver.url, json={"alerts": [alert("firing")]})
    first = receiver.delivered_at("firing")
    httpx.post(receiver.url, json={"alerts": [alert("firing")]})

    assert first is not None
    assert first == receiver.delivered_at("firing")
    assert receiver.delivered_at("resolved") is None


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"alerts": 1}', b'{"other": []}', b'{"alerts": [1]}'])
def test_refuses_what_is_no_delivery(receiver, body):
    assert httpx.post(receiver.url, content=body).status_code == 400
    assert receiver.alerts() == []


def test_refuses_a_body_that_is_too_large(receiver):
    assert httpx.post(receiver.url, content=b" " * ((1 << 20) + 1)).status_code == 413


def test_stops_listening_when_closed():
    receiver = WebhookReceiver()
    receiver.close()
    with pytest.raises(httpx.ConnectError):
        httpx.post(receiver.url, json={"alerts": []})
