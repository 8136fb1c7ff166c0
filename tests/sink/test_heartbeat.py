from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.instant import parse_instant
from sentinel.sink.heartbeat import Heartbeat

NOW = 1_795_981_020.0


def heartbeat(instance: str = "here-1", **alertmanager: object) -> Heartbeat:
    settings = AlertmanagerSettings.model_validate(alertmanager)
    return Heartbeat(instance, NOW, settings, PrometheusSettings(external_url="https://prometheus.example"), 30.0)


def test_labels_are_identity() -> None:
    external = {"cluster": "a", "instance": "b", "severity": "critical"}
    first, second = (heartbeat(external_labels={"cluster": "a"}).write(NOW + passed) for passed in (0.0, 3600.0))
    assert first.labels == second.labels
    assert first.labels == {
        "alertname": "NcclSentinelHeartbeat",
        "severity": "none",
        "heartbeat": "true",
        "instance": "here-1",
        "cluster": "a",
    }
    assert external["instance"] not in heartbeat().write(NOW).labels.values()


def test_it_ends_by_itself_four_deliveries_later_as_other_alerts_do() -> None:
    alert = heartbeat(resend="1m").write(NOW + 600.0)
    assert parse_instant(alert.starts_at) == NOW
    assert parse_instant(alert.ends_at) == NOW + 600.0 + 240.0


def test_two_daemons_have_two() -> None:
    assert heartbeat("here-1").write(NOW).labels != heartbeat("there-2").write(NOW).labels


def test_the_link_is_one_that_people_can_open() -> None:
    assert heartbeat().write(NOW).generator_url == "https://prometheus.example"
