"""The page of the daemon's own metrics, whole."""

import subprocess
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from servers.process import find_program

from sentinel.config.settings import Settings
from sentinel.daemon.figures import Figures
from sentinel.daemon.tally import GoodTick, Tally
from sentinel.model.incident import Tier, Verdict
from sentinel.sink.interface import Receipt
from sentinel.state.store import State
from sentinel.state.tick import Outcome
from sentinel.web.catalogue import CATALOGUE
from sentinel.web.context import Context
from sentinel.web.exposition import exposition
from sentinel.web.webhook import Webhook

NOW = 1_795_980_960.0
REPLICA = "http://127.0.0.1:9093"
ORDER = (*dict.fromkeys(label for family in CATALOGUE for label in family.labels), "le")


def figures(directory: Path, tally: Tally, **sections: object) -> Figures:
    settings = Settings.model_validate({"state": {"directory": directory}, **sections})
    context = Context(settings.web)
    return Figures(settings, "here-1", tally, Webhook({}, (), context, lambda: NOW), context)


def busy() -> Tally:
    tally = Tally(
        tick_interval_seconds=30.0,
        last_good=GoodTick(NOW - 5.0, 1000.0),
        open_incidents={(Verdict.LATE_RANK, Tier.P1): 2},
        communicators={"watching": 4, "paused": 0},
        delivered_at={REPLICA: NOW - 1.0},
        heartbeat_sent_at=NOW - 1.0,
        reloaded_at=NOW - 100.0,
        baseline_built_at=NOW - 1000.0,
    )
    tally.ticks[Outcome.OK] += 3
    tally.deliveries[REPLICA, Receipt.SUPERSEDED] += 1
    tally.opened[Verdict.STALLED] += 1
    tally.tick_seconds.observe(0.2)
    tally.count_source_request("error", 0.3)
    return tally


def values(page: str) -> dict[tuple[str, ...], float]:
    """By the name and the labels' values, these in the catalogue's order."""
    return {
        (
            sample.name.removeprefix("nccl_sentinel_"),
            *(sample.labels[label] for label in ORDER if label in sample.labels),
        ): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def test_numbers_are_where_they_belong(tmp_path: Path) -> None:
    State.open(tmp_path).close()
    found = figures(tmp_path, busy())
    found.webhook.heartbeat_received_at = NOW - 0.5
    page = values(exposition(found.samples(NOW)))
    assert {
        ("build_info", "0.1.0", "here-1"): 1.0,
        ("ticks_total", "ok"): 3.0,
        ("ticks_total", "source_error"): 0.0,
        ("tick_duration_seconds_bucket", "0.1"): 0.0,
        ("tick_duration_seconds_bucket", "0.25"): 1.0,
        ("source_requests_total", "error"): 1.0,
        ("source_requests_total", "ok"): 0.0,
        ("source_request_duration_seconds_sum",): 0.3,
        ("last_tick_timestamp_seconds",): NOW - 5.0,
        ("tick_interval_seconds",): 30.0,
        ("alertmanager_deliveries_total", REPLICA, "superseded"): 1.0,
        ("alertmanager_deliveries_total", REPLICA, "accepted"): 0.0,
        ("alertmanager_last_success_timestamp_seconds", REPLICA): NOW - 1.0,
        ("heartbeat_last_sent_timestamp_seconds",): NOW - 1.0,
        ("heartbeat_last_received_timestamp_seconds",): NOW - 0.5,
        ("incidents", "late_rank", "P1"): 2.0,
        ("incidents", "late_rank", "P0"): 0.0,
        ("incidents_opened_total", "stalled"): 1.0,
        ("communicators", "watching"): 4.0,
        ("config_last_reload_success_timestamp_seconds",): NOW - 100.0,
        ("baseline_built_timestamp_seconds",): NOW - 1000.0,
        ("webhook_requests_total", "413"): 0.0,
        ("web_refused_total", "credentials"): 0.0,
    }.items() <= page.items()
    assert page["state_bytes",] > 4096.0


def test_every_family_of_the_catalogue_has_a_series(tmp_path: Path) -> None:
    found = figures(tmp_path, busy())
    found.webhook.heartbeat_received_at = NOW
    assert {family for family, _, _ in found.samples(NOW)} == set(CATALOGUE)


def test_at_the_start_every_time_is_there_and_0(tmp_path: Path) -> None:
    page = values(exposition(figures(tmp_path / "missing", Tally()).samples(NOW)))
    times = {name: value for (name, *_), value in page.items() if name.endswith("_timestamp_seconds")}
    names = {family.name for family in CATALOGUE if family.name.endswith("_timestamp_seconds")}
    assert {f"nccl_sentinel_{name}" for name in times} == names
    assert set(times.values()) == {0.0}


@pytest.mark.parametrize("tally", [Tally(), busy()], ids=["start", "busy"])
def test_promtool_has_no_remark(tmp_path: Path, tally: Tally) -> None:
    page = exposition(figures(tmp_path, tally).samples(NOW))
    done = subprocess.run(
        [find_program("promtool"), "check", "metrics"], input=page, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_secret_is_on_the_page(tmp_path: Path) -> None:
    secret = tmp_path / "secret-file"
    secret.write_text("hunter2")
    access = {"username": "secret-user", "password_file": str(secret), "headers": {"X-Scope-OrgID": "secret-tenant"}}
    page = exposition(
        figures(
            tmp_path,
            busy(),
            prometheus={"url": "http://secret-host", **access},
            alertmanager={"urls": [REPLICA], **access},
            web={"config_file": str(secret)},
        ).samples(NOW)
    )
    assert REPLICA in page
    assert "secret" not in page
    assert "hunter2" not in page


def test_a_heartbeat_that_is_switched_off_is_not_missing(tmp_path: Path) -> None:
    """An alert on its age finds nothing, rather than 0."""
    found = figures(tmp_path, busy(), alertmanager={"urls": [REPLICA], "heartbeat": False})
    names = {name for name, *_ in values(exposition(found.samples(NOW)))}
    assert not {name for name in names if name.startswith("heartbeat")}
    assert "alertmanager_last_success_timestamp_seconds" in names
