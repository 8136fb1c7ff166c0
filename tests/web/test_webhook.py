import pytest
from nccl_endpoint.page import Request
from servers.notification import alert, notification

from sentinel.config.web import WebSettings
from sentinel.web.context import Context
from sentinel.web.webhook import WEBHOOK_PATH, Webhook

NOW = 1_795_980_960.0
OURS = {"alertname": "NcclSentinelHeartbeat", "instance": "here-1"}


@pytest.fixture
def context() -> Context:
    return Context(WebSettings())


@pytest.fixture
def webhook(context: Context) -> Webhook:
    return Webhook(OURS, {"NcclSentinelHeartbeat", "NcclRankLate"}, context, lambda: NOW)


def tell(webhook: Webhook, body: bytes, content_type: str = "application/json") -> tuple[int, str]:
    answer = webhook.answer(Request(content_type, body))
    return int(answer.status), answer.text


def test_our_own_heartbeat_sets_its_time(webhook: Webhook, context: Context) -> None:
    assert webhook.heartbeat_received_at is None
    assert tell(webhook, notification(alert(**OURS, cluster="a", severity="none"))) == (200, "")
    assert webhook.heartbeat_received_at == NOW
    assert context.firing(NOW) == ()


@pytest.mark.parametrize(
    "other",
    [
        alert(alertname="NcclSentinelHeartbeat", instance="there-2"),
        alert(alertname="NcclSentinelHeartbeat"),
        alert("resolved", **OURS),
        alert(alertname="NcclRankLate", instance="here-1"),
    ],
)
def test_others_heartbeats_and_our_incidents_are_neither_heartbeat_nor_context(
    webhook: Webhook, context: Context, other: object
) -> None:
    assert tell(webhook, notification(other)) == (200, "")
    assert webhook.heartbeat_received_at is None
    assert context.firing(NOW) == ()


def test_other_alerts_are_context(webhook: Webhook, context: Context) -> None:
    tell(webhook, notification(alert(node="n1"), alert(**OURS), alert("resolved", node="n2")))
    assert [dict(each.labels) for each in context.firing(NOW)] == [{"alertname": "NodeHot", "node": "n1"}]


def test_a_bad_notification_is_refused_whole(webhook: Webhook, context: Context) -> None:
    status, reason = tell(webhook, notification(alert(node="n1"), alert("burning")))
    assert (status, reason) == (400, "alerts[1].status: input should be 'firing' or 'resolved'\n")
    assert context.firing(NOW) == ()


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_what_a_browser_would_send_for_another_site_is_refused(webhook: Webhook, content_type: str) -> None:
    assert tell(webhook, notification(alert(**OURS)), content_type)[0] == 415
    assert webhook.heartbeat_received_at is None


def test_answers_are_counted_for_this_page_only(webhook: Webhook) -> None:
    for path, status in ((WEBHOOK_PATH, 200), (WEBHOOK_PATH, 200), (WEBHOOK_PATH, 413), ("/metrics", 200)):
        webhook.note(path, status)
    assert webhook.codes() == {200: 2, 413: 1}
