from datetime import timedelta
from pathlib import Path

import pytest

from sentinel.config.loader import load
from sentinel.config.log import LogLevel
from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

FILES = Path(__file__).parent / "files"
NOWHERE = FILES / "there-is-none.toml"


def faults(path: Path | None, environment: dict[str, str], flags: dict[str, object] | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, environment, flags, default=NOWHERE)
    return caught.value.why.strip().splitlines()


def test_without_file_or_environment_all_is_default() -> None:
    settings = load(None, {}, default=NOWHERE)
    assert settings.prometheus.url == "http://127.0.0.1:9090"
    assert settings.schedule.tick == timedelta(seconds=30)


def test_every_section_is_read_from_the_file() -> None:
    settings = load(FILES / "full.good.toml", {})
    assert settings.prometheus.url == "https://prometheus.example/prefix"
    assert settings.prometheus.selector == 'cluster="a", env=~"prod|\\\\d+"'
    assert settings.prometheus.timeout == timedelta(seconds=90)
    assert settings.prometheus.max_answer == 64 << 20
    assert settings.alertmanager.urls == ("http://a:9093", "http://b:9093")
    assert settings.alertmanager.external_labels == {"cluster": "a"}
    assert settings.schedule.tick == timedelta(seconds=2)
    assert settings.schedule.evaluation_delay == timedelta(seconds=5)
    assert settings.detection.late_rank.min_cost_ratio == 0.02
    assert settings.detection.late_rank.min_ticks == 2
    assert settings.log.level is LogLevel.DEBUG


def test_environment_goes_over_the_file_and_flags_over_both() -> None:
    environment = {"SENTINEL_SCHEDULE__TICK": "10s", "SENTINEL_PROMETHEUS__RETRIES": "5"}
    settings = load(FILES / "full.good.toml", environment, {"schedule": {"tick": "1m"}})
    assert settings.schedule.tick == timedelta(minutes=1)
    assert settings.prometheus.retries == 5
    assert settings.prometheus.timeout == timedelta(seconds=90)


def test_a_named_file_must_exist() -> None:
    with pytest.raises(ConfigError, match="no configuration file"):
        load(NOWHERE, {})


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """A reload may meet a file that is just being written: nobody asks for all the defaults by an empty file."""
    file = tmp_path / "sentinel.toml"
    file.write_text(" \n")
    with pytest.raises(ConfigError, match=r"the configuration is empty \(.*sentinel\.toml"):
        load(file, {})


def test_a_file_that_is_not_toml_is_said_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"syntax\.bad\.toml.*line 1"):
        load(FILES / "syntax.bad.toml", {})


def test_misspelt_keys_are_refused_at_every_level_with_near_misses() -> None:
    path = FILES / "typos.bad.toml"
    found = faults(path, {})
    assert len(found) == 3
    assert f"{path}: detection.late_rank.min_tick: no such key. Did you mean detection.late_rank.min_ticks" in found[0]
    assert f"{path}: prometheus.timout: no such key. Did you mean prometheus.timeout" in found[1]
    assert f"{path}: shedule: no such key. Did you mean schedule?" in found[2]


def test_a_number_without_a_unit_is_no_duration() -> None:
    with pytest.raises(ConfigError, match="'30' is not a duration"):
        load(None, {}, {"schedule": {"tick": 30}}, default=NOWHERE)


def test_every_wrong_value_is_listed_with_key_value_and_what_is_allowed() -> None:
    text = "\n".join(faults(FILES / "values.bad.toml", {}))
    for part in (
        "prometheus.url = 'prometheus:9090': write an address as in http://127.0.0.1:9090",
        "prometheus.selector = '{cluster=a}': write label matchers without braces",
        "prometheus.retries = -1: input should be greater than or equal to 0",
        "alertmanager.urls.0 = 'http://...@a': no credentials in an address",
        "severity is a label of the alerts themselves",
        "{nobody} is not known; known are alertname, comm,",
        "schedule.tick = '7': '7' is not a duration: write a number and a unit",
        "log.level = 'loud': input should be 'debug', 'info', 'warning' or 'error'",
    ):
        assert part in text


@pytest.mark.parametrize("name", ["alertname", "comm", "instance", "heartbeat", "rank"])
def test_labels_of_our_own_are_no_external_labels(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is a label of the alerts themselves"):
        load(None, {}, {"alertmanager": {"external_labels": {name: "x"}}}, default=NOWHERE)


@pytest.mark.parametrize(
    ("access", "fault"),
    [
        ({"username": "a"}, "username and password_file belong together"),
        ({"cert_file": "/a"}, "cert_file and key_file belong together"),
        ({"username": "a", "password_file": "/b", "bearer_token_file": "/c"}, "not both"),
        ({"headers": {"Authorization": "Bearer x"}}, "Authorization is a secret"),
    ],
)
def test_credentials_that_contradict_each_other_are_refused(access: dict[str, object], fault: str) -> None:
    for section in ("prometheus", "alertmanager"):
        (found,) = faults(None, {}, {section: access})
        assert fault in found
        assert found.strip().startswith(f"--set: {section}: ")


def test_a_tick_is_whole_milliseconds() -> None:
    (found,) = faults(None, {}, {"schedule": {"tick": "1s100us"}})
    assert "whole number of milliseconds" in found


def test_the_unit_s_state_directory_is_a_default_only() -> None:
    assert load(None, {"STATE_DIRECTORY": "/unit:/other"}, default=NOWHERE).state.directory == Path("/unit")
    both = {"STATE_DIRECTORY": "/unit", "SENTINEL_STATE__DIRECTORY": "/mine"}
    assert load(None, both, default=NOWHERE).state.directory == Path("/mine")


def test_variables_of_others_are_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE", "done")
    monkeypatch.setenv("LOG", "somewhere")
    assert Settings().model_dump() == load(None, {"STATE": "done", "LOG": "x"}, default=NOWHERE).model_dump()
