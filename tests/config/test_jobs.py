"""Thresholds that a job has of its own."""

from datetime import timedelta
from pathlib import Path

import pytest

from sentinel.config.detection import DetectionSettings
from sentinel.config.loader import load
from sentinel.errors import ConfigError
from sentinel.model.incident import Tier

FILES = Path(__file__).parent / "files"


@pytest.fixture
def settings() -> DetectionSettings:
    return load(FILES / "jobs.good.toml", {}).detection


def test_what_a_job_names_is_its_own_and_the_rest_is_everybody_s(settings: DetectionSettings) -> None:
    own = settings.settings_for("eval-7b")
    assert own.late_rank.min_cost_ratio == 0.1
    assert own.late_rank.min_lateness == timedelta(milliseconds=1)
    assert own.late_rank.min_ticks == 4
    assert own.tiers.late_rank is Tier.P1
    assert own.tiers.p1_cost_ratio == 0.5
    assert own.tiers.slow_fabric is Tier.P2
    assert own.stalled == settings.stalled
    assert own.reopen_within == settings.reopen_within


@pytest.mark.parametrize("job_id", ["", "other", "eval-x", "my-llama-7b", "LLAMA-7b"])
def test_a_job_that_nothing_matches_has_what_all_have(settings: DetectionSettings, job_id: str) -> None:
    assert settings.settings_for(job_id) is settings


def test_the_first_that_matches_holds(settings: DetectionSettings) -> None:
    assert settings.settings_for("llama-405b").late_rank == settings.late_rank
    assert not settings.settings_for("llama-7b").late_rank.enabled
    assert settings.settings_for("llama-7b").late_rank.min_cost_ratio == 0.02


def test_a_wrong_key_or_value_is_refused_with_its_place() -> None:
    path = FILES / "jobs.bad.toml"
    with pytest.raises(ConfigError) as caught:
        load(path, {})
    found = caught.value.why.strip().splitlines()
    for part in (
        "detection.jobs.0.late_rank.min_tick: no such key. Did you mean detection.jobs.0.late_rank.min_ticks",
        "detection.jobs.1.job_id = '': string should have at least 1 character (Job id, or a pattern",
        "detection.jobs.1.tiers.late_rank = 'P3': input should be 'P0', 'P1' or 'P2' (Tier of a late rank",
        "detection.jobs.1.tiers.p1_cost_ratio = 5: input should be less than or equal to 1",
        "detection.jobs.2.job_id: field required",
        "detection.jobs.2.false_alarms_per_month: no such key.",
    ):
        assert any(f"{path}: {part}" in line for line in found), part
    assert len(found) == 6


def test_a_table_that_is_none_of_a_job_s_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"detection\.jobs\.0\.stall: no such key.*detection\.jobs\.0\.stalled"):
        load(None, {}, {"detection": {"jobs": [{"job_id": "a", "stall": {}}]}}, default=FILES / "none.toml")


def test_the_environment_takes_them_as_json() -> None:
    text = '[{"job_id": "a", "stalled": {"stall_after": "2m"}}]'
    settings = load(None, {"SENTINEL_DETECTION__JOBS": text}, default=FILES / "none.toml").detection
    assert settings.settings_for("a").stalled.stall_after == timedelta(minutes=2)
    assert settings.settings_for("b").stalled.stall_after == timedelta(seconds=30)
