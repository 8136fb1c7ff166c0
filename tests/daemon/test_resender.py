"""Alerts are sent again while the main thread does something else."""

from servers.incidents import incident
from servers.process import wait_until
from servers.recorder import RecordingSink

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.daemon.dispatch import Dispatch
from sentinel.daemon.resender import Resender
from sentinel.model.instant import parse_instant
from sentinel.sink.alert import AlertWriter

NOW = 1_795_981_020.0


def test_what_is_due_is_sent_whatever_fails_and_nothing_else() -> None:
    sink, times = RecordingSink(), [NOW]
    writer = AlertWriter(AlertmanagerSettings(), PrometheusSettings(), 30.0)
    dispatch = Dispatch(writer, sink, [incident()], 60.0, 30.0)
    send, failures = sink.send, []

    def fail_once(alerts: object) -> None:
        if len(sink.sent) == 1 and not failures:
            failures.append(alerts)
            raise ZeroDivisionError
        send(alerts)

    sink.send = fail_once
    with Resender(dispatch, 0.01, lambda: times[-1]):
        wait_until(lambda: len(sink.sent) == 1, "what is known is sent at the start")
        times.append(NOW + 59.0)
        times.append(NOW + 60.0)
        wait_until(lambda: len(sink.sent) == 2, "it is sent again")
    assert failures
    assert [parse_instant(alert.ends_at) for (alert,) in sink.sent] == [NOW + 240.0, NOW + 300.0]
