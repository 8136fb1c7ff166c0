import threading
from typing import Any

import pytest

from sentinel.config.web import WebSettings
from sentinel.model.context import ContextAlert
from sentinel.web.context import Context
from sentinel.web.notification import NotifiedAlert

NOW = 1_795_980_960.0


def context(**settings: Any) -> Context:
    return Context(WebSettings.model_validate(settings))


def notified(firing: bool = True, **labels: str) -> NotifiedAlert:
    return NotifiedAlert(firing, labels, NOW - 60.0)


def test_what_fires_is_kept_until_it_is_resolved() -> None:
    store = context()
    store.take(notified(alertname="NodeHot", node="n1"), NOW)
    store.take(notified(alertname="NodeHot", node="n2"), NOW + 1.0)
    assert store.firing(NOW + 2.0) == (
        ContextAlert({"alertname": "NodeHot", "node": "n1"}, NOW - 60.0, NOW),
        ContextAlert({"alertname": "NodeHot", "node": "n2"}, NOW - 60.0, NOW + 1.0),
    )
    store.take(notified(False, node="n1", alertname="NodeHot"), NOW + 3.0)
    store.take(notified(False, alertname="NeverSeen"), NOW + 3.0)
    assert [alert.labels["node"] for alert in store.firing(NOW + 4.0)] == ["n2"]


def test_an_alert_that_is_not_repeated_is_forgotten() -> None:
    store = context(max_context_age="1h")
    store.take(notified(node="n1"), NOW)
    store.take(notified(node="n2"), NOW)
    store.take(notified(node="n1"), NOW + 3000.0)
    assert [alert.labels["node"] for alert in store.firing(NOW + 3601.0)] == ["n1"]


def test_a_full_store_keeps_what_it_has() -> None:
    store = context(max_context_alerts=2, max_context_age="1h")
    for node in ("n1", "n2", "n3", "n1"):
        store.take(notified(node=node), NOW)
    assert [alert.labels["node"] for alert in store.firing(NOW)] == ["n2", "n1"]
    assert store.dropped() == {"size": 0, "full": 1}
    store.take(notified(node="n4"), NOW + 4000.0)  # the others are too old by now
    assert [alert.labels["node"] for alert in store.firing(NOW + 4000.0)] == ["n4"]
    store.configure(WebSettings(max_context_alerts=0))
    store.take(notified(node="n5"), NOW + 4000.0)
    assert store.dropped() == {"size": 0, "full": 2}


@pytest.mark.parametrize(("value", "kept"), [("x" * 96, 1), ("x" * 97, 0), ("é" * 48, 1), ("é" * 49, 0)])
def test_a_large_alert_is_left_out(value: str, kept: int) -> None:
    store = context(max_context_labels=100)
    store.take(notified(node=value), NOW)
    assert len(store.firing(NOW)) == kept
    assert store.dropped()["size"] == 1 - kept


def test_many_threads_at_once() -> None:
    store = context(max_context_alerts=50)

    def work(name: int) -> None:
        for number in range(300):
            store.take(notified(node=f"{name}-{number % 30}", firing=number % 3 != 0), NOW)
            store.firing(NOW)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < len(store.firing(NOW)) <= 50
