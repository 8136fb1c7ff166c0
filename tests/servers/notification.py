"""Notifications as Alertmanager writes them."""

import json
from typing import Any


def alert(status: str = "firing", starts_at: str = "2026-11-29T19:36:00.123456789Z", **labels: str) -> dict[str, Any]:
    return {
        "status": status,
        "labels": {"alertname": "NodeHot", **labels},
        "annotations": {"summary": "hot"},
        "startsAt": starts_at,
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus/graph",
        "fingerprint": "b3d9e7e2f0c1a456",
    }


def notification(*alerts: Any, **changes: Any) -> bytes:
    document = {
        "version": "4",
        "groupKey": '{}:{alertname="NodeHot"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "sentinel",
        "groupLabels": {},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager",
        "alerts": list(alerts),
    }
    return json.dumps(document | changes).encode()
