from dataclasses import replace

import pytest
from servers.incidents import incident
from servers.recorder import RecordingSink

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.daemon.dispatch import Dispatch
from sentinel.incident.tracker import Changes
from sentinel.model.incident import FormerTier, Incident, Tier
from sentinel.model.instant import parse_instant
from sentinel.sink.alert import AlertWriter
from sentinel.sink.heartbeat import Heartbeat
from sentinel.sink.interface import Receipt

NOW = 1_795_981_020.0


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


def dispatch(sink: RecordingSink, *known: Incident) -> Dispatch:
    writer = AlertWriter(AlertmanagerSettings(), PrometheusSettings(), 30.0)
    return Dispatch(writer, sink, known, resend_seconds=60.0, tick_seconds=30.0)


def test_nothing_is_sent_while_there_is_nothing_to_say(sink: RecordingSink) -> None:
    assert not dispatch(sink).send(NOW)
    assert sink.sent == []


def test_a_change_is_told_at_once_and_the_rest_at_the_resend_interval(sink: RecordingSink) -> None:
    one = dispatch(sink)
    one.update(Changes(opened=(incident(),)))
    sent = []
    for tick in range(6):
        if tick:
            one.update(Changes(ongoing=(incident(),)))
        sent.append(one.send(NOW + 30 * tick + (0.004 if tick % 2 else 0.0)))
    assert sent == [True, False] * 3
    one.update(Changes(ongoing=(incident(),), opened=(incident("other", ranks=(4,)),)))
    assert one.send(NOW + 180)
    assert len(sink.sent[-1]) == 2


def test_a_delivery_that_failed_is_made_again_at_the_next_tick(sink: RecordingSink) -> None:
    one = dispatch(sink, incident())
    sent = []
    for tick in range(4):
        sink.receipt = Receipt.UNREACHABLE if tick < 2 else Receipt.ACCEPTED
        sent.append(one.send(NOW + 30 * tick))
        one.outcomes()
    assert sent == [True, True, True, False]


def test_what_a_newer_delivery_took_the_place_of_is_not_made_again(sink: RecordingSink) -> None:
    one = dispatch(sink, incident())
    sink.receipt = Receipt.SUPERSEDED
    one.send(NOW)
    one.outcomes()
    assert not one.send(NOW + 5)


def test_between_ticks_only_what_no_tick_sent_in_time_is_sent(sink: RecordingSink) -> None:
    one = dispatch(sink, incident())
    assert one.resend(NOW)  # at the start, before the first tick
    assert not one.resend(NOW + 59)
    assert one.resend(NOW + 60)
    assert not one.send(NOW + 60)
    one.update(Changes(opened=(incident("other", ranks=(4,)),)))
    assert one.resend(NOW + 61)  # the tick that found it hangs now


def test_a_partial_success_is_not_repeated_at_once(sink: RecordingSink) -> None:
    """The alerts that Alertmanager refused would be refused again."""
    one = dispatch(sink, incident())
    sink.receipt = Receipt.PARTIAL
    assert one.send(NOW)
    one.outcomes()
    assert not one.send(NOW + 30)


@pytest.mark.parametrize("ago", [30, 3 * 3600])
def test_an_ended_incident_is_sent_as_resolved_for_fifteen_minutes(sink: RecordingSink, ago: float) -> None:
    """From when that was found: with long ticks, or after a gap, the end itself lies long back."""
    one = dispatch(sink, incident())
    began = {"started_at": NOW - 86400, "detected_at": NOW - 86400}
    one.update(Changes(ended=(incident(**began, ended_at=NOW - ago),)))
    assert one.open() == []
    for minute in range(20):
        one.send(NOW + 60 * minute)
    assert len(sink.sent) == 16
    for alerts in sink.sent:
        assert [parse_instant(alert.ends_at) for alert in alerts] == [NOW - ago]


def test_after_a_restart_what_ended_lately_is_told_again(sink: RecordingSink) -> None:
    one = dispatch(sink, incident(ended_at=NOW - 600), incident("other", ranks=(4,)))
    one.send(NOW)
    assert len(sink.sent[0]) == 2
    assert [each.id for each in one.open()] == ["other"]


def test_the_start_never_moves(sink: RecordingSink) -> None:
    one = dispatch(sink, incident())
    for minute in range(3):
        one.update(Changes(ongoing=(incident(cost_ratio=0.1 * minute),)))
        one.send(NOW + 60 * minute)
    starts = {alert.starts_at for alerts in sink.sent for alert in alerts}
    ends = [parse_instant(alert.ends_at) for alerts in sink.sent for alert in alerts]
    assert starts == {"2026-11-29T19:36:00.500Z"}
    assert ends == [NOW + 60 * minute + 240 for minute in range(3)]


def test_what_is_over_does_not_hide_what_goes_on_under_the_same_labels(sink: RecordingSink) -> None:
    over = replace(incident("first"), ended_at=NOW - 60)
    one = dispatch(sink, over, incident("second"))
    one.send(NOW)
    (alert,) = sink.sent[-1]
    assert parse_instant(alert.ends_at) > NOW
    two = dispatch(sink, incident("second"), over)
    two.send(NOW)
    (alert,) = sink.sent[-1]
    assert parse_instant(alert.ends_at) > NOW


def risen(**changes: object) -> Incident:
    return incident(tier=Tier.P1, former_tiers=(FormerTier(Tier.P2, NOW),), **changes)


def test_a_tier_that_rises_resolves_the_old_alert_and_fires_the_new_at_once(sink: RecordingSink) -> None:
    one = dispatch(sink, incident(tier=Tier.P2))
    one.send(NOW - 1)
    one.update(Changes(ongoing=(risen(),), raised=(risen(),)))
    one.send(NOW + 1)
    (before,) = sink.sent[0]
    old, new = sink.sent[1]
    assert old.labels == before.labels
    assert (old.labels["tier"], old.labels["severity"]) == ("P2", "info")
    assert new.labels == {**old.labels, "tier": "P1", "severity": "warning"}
    assert parse_instant(old.ends_at) == NOW
    assert parse_instant(new.ends_at) > NOW + 1
    assert before.starts_at == old.starts_at == new.starts_at
    assert before.annotations["incident"] == old.annotations["incident"] == new.annotations["incident"]
    assert old.annotations["description"].startswith("It goes on as P1. It costs ")


def test_the_old_tier_is_told_as_resolved_for_fifteen_minutes_also_after_a_restart(sink: RecordingSink) -> None:
    for minute in range(20):
        dispatch(sink, risen()).send(NOW + 60 * minute)
    tiers = [[alert.labels["tier"] for alert in alerts] for alerts in sink.sent]
    assert tiers == [["P2", "P1"]] * 16 + [["P1"]] * 4
    assert {alerts[0].ends_at for alerts in sink.sent[:16]} == {sink.sent[0][0].ends_at}


def test_when_the_incident_ends_both_tiers_are_over(sink: RecordingSink) -> None:
    one = dispatch(sink, risen())
    one.update(Changes(ended=(risen(ended_at=NOW + 60),)))
    one.send(NOW + 120)
    assert {alert.labels["tier"]: parse_instant(alert.ends_at) for alert in sink.sent[-1]} == {
        "P2": NOW,
        "P1": NOW + 60,
    }


def test_an_incident_that_comes_back_fires_again_with_its_old_start(sink: RecordingSink) -> None:
    one = dispatch(sink, incident(ended_at=NOW - 30))
    one.send(NOW)
    back = incident(recurrences=1)
    one.update(Changes(ongoing=(back,), reopened=(back,)))
    one.send(NOW + 1)
    (over,), (again,) = sink.sent
    assert (again.labels, again.starts_at) == (over.labels, over.starts_at)
    assert parse_instant(over.ends_at) < NOW < parse_instant(again.ends_at)
    assert "It has come back 1 time." in again.annotations["description"]


def beating(sink: RecordingSink, *known: Incident) -> Dispatch:
    settings = AlertmanagerSettings(), PrometheusSettings()
    heartbeat = Heartbeat("here-1", NOW, *settings, 30.0)
    return Dispatch(AlertWriter(*settings, 30.0), sink, known, 60.0, 30.0, heartbeat)


def test_a_heartbeat_is_sent_at_the_resend_interval_also_when_there_is_nothing_else_to_say(sink: RecordingSink) -> None:
    one = beating(sink)
    assert [one.send(NOW + 30 * tick) for tick in range(5)] == [True, False, True, False, True]
    names = [[alert.labels["alertname"] for alert in alerts] for alerts in sink.sent]
    assert names == [["NcclSentinelHeartbeat"]] * 3
    assert [parse_instant(alert.ends_at) for (alert,) in sink.sent] == [NOW + 240, NOW + 300, NOW + 360]


def test_a_heartbeat_goes_with_every_delivery(sink: RecordingSink) -> None:
    one = beating(sink)
    one.send(NOW)
    one.update(Changes(opened=(incident(),)))
    one.send(NOW + 1)
    assert [alert.labels["alertname"] for alert in sink.sent[1]] == ["NcclRankLate", "NcclSentinelHeartbeat"]
