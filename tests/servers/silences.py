"""Silences in an Alertmanager, made as amtool makes them."""

import httpx

from sentinel.model.instant import format_instant


def silence(url: str, ends_at: float, comment: str, **labels: str) -> str:
    """Silence alerts with those labels, from now until the Unix time `ends_at`; its id."""
    document = {
        "matchers": [
            {"name": name, "value": value, "isRegex": False, "isEqual": True} for name, value in labels.items()
        ],
        "startsAt": format_instant(ends_at - 86_400.0),  # the past is taken for now
        "endsAt": format_instant(ends_at),
        "createdBy": "ops",
        "comment": comment,
    }
    answer = httpx.post(f"{url}/api/v2/silences", json=document, trust_env=False)
    answer.raise_for_status()
    id_: str = answer.json()["silenceID"]
    return id_


def expire(url: str, id_: str) -> None:
    """End one."""
    httpx.delete(f"{url}/api/v2/silence/{id_}", trust_env=False).raise_for_status()
