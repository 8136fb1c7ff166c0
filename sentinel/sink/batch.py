"""Alerts as the bodies of requests that no proxy finds too long."""

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from sentinel.sink.alert import Alert

__all__ = ["BODY_BYTES", "bodies"]

BODY_BYTES: Final = 512 * 1024
"""Alertmanager has no limit of its own; the usual one of a proxy before it is 1 MiB."""


def bodies(alerts: Sequence[Alert], most_bytes: int = BODY_BYTES) -> tuple[bytes, ...]:
    """JSON lists in the order of the alerts, each of at most so many bytes, or of a single alert; one at least."""
    return tuple(b"[" + b",".join(group) + b"]" for group in _groups(alerts, most_bytes))


def _groups(alerts: Sequence[Alert], most_bytes: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    length = 2  # the brackets
    for alert in alerts:
        text = orjson.dumps(alert.document())
        if group and length + len(text) > most_bytes:
            yield group
            group, length = [], 2
        group.append(text)
        length += len(text) + 1
    yield group
