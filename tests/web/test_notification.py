import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers.notification import alert, notification

from sentinel.model.instant import parse_instant
from sentinel.web.notification import NotificationError, read_notification

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_alerts_in_their_order() -> None:
    first, second = read_notification(notification(alert(node="n1"), alert("resolved", node="n2")))
    assert (first.firing, first.labels) == (True, {"alertname": "NodeHot", "node": "n1"})
    assert first.starts_at == pytest.approx(parse_instant("2026-11-29T19:36:00.123Z"), abs=0.001)
    assert (second.firing, second.labels["node"]) == (False, "n2")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the body is not JSON"),
        (b"NaN", "the body is not JSON"),
        (b'{"version": "4", "alerts": [NaN]}', "the body is not JSON"),
        (b"\xff\xfe", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b"{" * 2, "the body is not JSON"),
        (b"[]", "the notification: input should be a valid dictionary"),
        (notification(version="5"), "version: input should be '4'"),
        (notification(version=4), "version: input should be '4'"),
        (json.dumps({"version": "4"}).encode(), "alerts: field required"),
        (notification(alerts={}), "alerts: input should be a valid list"),
        (notification(alert(), 7), "alerts[1]: input should be a valid dictionary"),
        (notification(alert("burning")), "alerts[0].status: input should be 'firing' or 'resolved'"),
        (notification(alert() | {"labels": {"secret\n": 1}}), "alerts[0].labels: expected strings"),
        (notification(alert() | {"labels": [1]}), "alerts[0].labels: input should be a valid dictionary"),
        (notification(alert() | {"startsAt": 5}), "alerts[0].startsAt: input should be a valid string"),
        (notification(alert(starts_at="soon")), "alerts[0].startsAt: expected a time as in 2026-11-29T19:36:00Z"),
        (notification(alert(starts_at="2026-11-29T19:36:00")), "alerts[0].startsAt: expected a time as in"),
    ],
)
def test_anything_else_is_refused_with_a_reason(body: bytes, reason: str) -> None:
    with pytest.raises(NotificationError, match=f"^{re.escape(reason)}"):
        read_notification(body)


def read_or_refuse(body: bytes) -> None:
    reason = "fine"
    try:
        read_notification(body)
    except NotificationError as error:
        reason = str(error)
    assert re.fullmatch(r"[ -~]{4,150}", reason)


@given(JSON)
def test_any_json_is_read_or_refused(document: Any) -> None:
    read_or_refuse(json.dumps(document).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    read_or_refuse(body)


@given(
    st.sampled_from(["status", "labels", "annotations", "startsAt", "endsAt", "fingerprint"]),
    JSON,
    st.sampled_from(["version", "alerts", "status", "groupKey"]),
    JSON,
)
def test_any_value_in_any_place_is_read_or_refused(key: str, value: Any, top: str, other: Any) -> None:
    read_or_refuse(notification(alert() | {key: value}))
    read_or_refuse(notification(alert(), **{top: other}))


@given(st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([+-][0-9]{2}:[0-9]{2}|Z)\Z"))
def test_any_time_is_read_or_refused(text: str) -> None:
    read_or_refuse(notification(alert(starts_at=text)))


def test_huge_strings_are_read() -> None:
    (found,) = read_notification(notification(alert(name="x" * 5_000_000)))
    assert len(found.labels["name"]) == 5_000_000
