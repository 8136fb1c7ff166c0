from pathlib import Path

import pytest

from sentinel.config.loader import load
from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

NOWHERE = Path(__file__).parent / "there-is-none.toml"


def read(environment: dict[str, str]) -> Settings:
    return load(None, environment, default=NOWHERE)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("SENTINEL_PROMETHEUS_URL", "SENTINEL_PROMETHEUS__URL"),  # one underscore short
        ("SENTINEL_PROMETEUS__URL", "SENTINEL_PROMETHEUS__URL"),
        ("SENTINEL_PROMETHEUS__ULR", "SENTINEL_PROMETHEUS__URL"),
        ("SENTINEL_DETECTION__LATE_RANK__MIN_TICK", "SENTINEL_DETECTION__LATE_RANK__MIN_TICKS"),
        ("SENTINEL_FOO", "SENTINEL_PROMETHEUS"),
    ],
)
def test_a_variable_that_names_no_key_is_refused(name: str, suggestion: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read({name: "1"})
    assert f"{name}: " in caught.value.why
    assert "no such key" in caught.value.why
    assert suggestion in caught.value.why


def test_a_wrong_value_is_said_under_the_variable_s_name() -> None:
    with pytest.raises(ConfigError, match=r"SENTINEL_LOG__LEVEL: log.level = 'loud'"):
        read({"SENTINEL_LOG__LEVEL": "loud"})


def test_lists_are_written_with_commas_or_as_json() -> None:
    expected = ("http://a", "http://b")
    assert read({"SENTINEL_ALERTMANAGER__URLS": "http://a, http://b"}).alertmanager.urls == expected
    assert read({"SENTINEL_ALERTMANAGER__URLS": '["http://a", "http://b"]'}).alertmanager.urls == expected
    assert read({"SENTINEL_ALERTMANAGER__URLS": ""}).alertmanager.urls == ()


def test_tables_are_written_as_json_or_key_by_key() -> None:
    as_json = read({"SENTINEL_ALERTMANAGER__EXTERNAL_LABELS": '{"cluster": "a"}'})
    by_key = read({"SENTINEL_ALERTMANAGER__EXTERNAL_LABELS__CLUSTER": "a"})
    assert as_json.alertmanager.external_labels == by_key.alertmanager.external_labels == {"cluster": "a"}


def test_a_section_that_is_given_a_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="SENTINEL_PROMETHEUS: "):
        read({"SENTINEL_PROMETHEUS": "http://a"})
    with pytest.raises(ConfigError, match="SENTINEL_PROMETHEUS"):
        read({"SENTINEL_PROMETHEUS": "http://a", "SENTINEL_PROMETHEUS__URL": "http://a"})


def test_what_kubernetes_sets_for_services_is_no_typo() -> None:
    read(
        {
            "SENTINEL_SERVICE_HOST": "10.0.0.1",
            "SENTINEL_SERVICE_PORT": "80",
            "SENTINEL_SERVICE_PORT_HTTP": "80",
            "SENTINEL_PORT": "tcp://10.0.0.1:80",
            "SENTINEL_PORT_80_TCP_ADDR": "10.0.0.1",
            "SENTINEL_EXPORTER_SERVICE_HOST": "10.0.0.1",
        }
    )
