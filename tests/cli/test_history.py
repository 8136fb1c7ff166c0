"""baseline, backtest, run --once, status and explain, over a real Prometheus's history."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.job import Job
from servers.command import Run
from servers.incidents import incident as past
from servers.metrics_text import openmetrics
from servers.prometheus import fill, prometheus

from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

TICK = 15
FIELDS = {
    "id", "verdict", "tier", "comm", "comm_name", "job_id", "ranks", "node", "gpu", "started_at", "detected_at",
    "ended_at", "cost_ratio", "evidence", "victims", "context", "silenced_by",
}  # fmt: skip


class History:
    """A Prometheus with 15 healthy minutes and five in which rank 3 is late, up to two minutes from now."""

    def __init__(self, url: str, start: float) -> None:
        self.url = url
        self.start, self.fault, self.end = start, start + 60 * TICK, start + 80 * TICK


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    directory = tmp_path_factory.mktemp("prometheus")
    start = time.time() // TICK * TICK - 1200.0 + 120.0
    job = Job(tick_seconds=float(TICK), start=start, step_seconds=0.1, job_id="4711", comm_name="dp")
    snapshots = list(job.ticks(60))
    job.delay_seconds[3] = 0.02
    fill(directory, openmetrics([*snapshots, *job.ticks(20)]))
    with prometheus(directory) as url:
        yield History(url, start)


@pytest.fixture
def options(history: History, tmp_path: Path) -> list[str]:
    config = tmp_path / "sentinel.toml"
    config.write_text(
        f'prometheus = {{ url = "{history.url}" }}\n'
        "alertmanager = { urls = [] }\n"
        f'schedule = {{ tick = "{TICK}s", evaluation_delay = "1s" }}\n'
        f'state = {{ directory = "{tmp_path / "state"}" }}\n'
    )
    return ["--config", str(config)]


def test_a_backtest_finds_the_late_rank(run: Run, history: History, options: list[str], tmp_path: Path) -> None:
    result = run("backtest", "--from", history.start, "--to", history.end, "--json", *options)
    assert result.status == 1
    document = json.loads(result.out)
    (incident,) = document["incidents"]
    assert set(incident) == FIELDS
    assert (incident["verdict"], incident["ranks"], incident["job_id"]) == ("late_rank", [3], "4711")
    assert incident["ended_at"] is None
    assert document["baseline"] is None
    assert not (tmp_path / "state").exists()  # nothing is written

    text = run("backtest", "--from", history.start, "--to", history.end, *options)
    assert text.status == 1
    assert "Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711" in text.out
    assert "1 incident in" in text.err


def test_a_healthy_history_is_0(run: Run, history: History, options: list[str]) -> None:
    result = run("backtest", "--from", history.start, "--to", history.fault, *options)
    assert (result.status, result.out) == (0, "")
    assert "0 incidents" in result.err


def test_a_history_without_series_is_an_error(run: Run, options: list[str]) -> None:
    for command in ("backtest", "baseline build"):
        result = run(*command.split(), "--from", "40d", "--to", "39d23h", *options)
        assert result.status == 3
        assert "no nccl_ series" in result.err


def test_a_baseline_is_built_shown_and_used_where_it_may_be(run: Run, history: History, options: list[str]) -> None:
    built = json.loads(run("baseline", "build", "--from", history.start, "--to", history.fault, "--json", *options).out)
    assert (built["version"], built["ranks"], built["rows"]) == (1, 8, 16)
    assert "Baseline 2" in run("baseline", "build", "--from", history.start, "--to", history.fault - 300, *options).out

    shown = json.loads(run("baseline", "show", "--json", "--version", 1, *options).out)
    assert len(shown["rows"]) == 16
    assert {row["global_rank"] for row in shown["rows"]} == set(range(8))
    table = run("baseline", "show", *options).out
    assert table.startswith("Baseline 2, built")
    assert "dp (8 ranks on 2 nodes: 0-7)" in table
    assert "AllReduce 1 MiB RING SIMPLE" in table
    assert run("baseline", "show", "--version", 3, *options).status == 2

    def used(start: float) -> object:
        return json.loads(run("backtest", "--from", start, "--to", history.end, "--json", *options).out)["baseline"]

    assert used(history.fault + 1) == 2  # the newest of those that end before
    assert used(history.fault - 290) == 2
    assert used(history.start + 300) is None  # both know of later times


def test_one_tick_status_and_explanation(run: Run, options: list[str], tmp_path: Path) -> None:
    before = json.loads(run("status", "--json", *options).out)
    assert before["incidents"] == []
    assert before["last_tick"] is before["baseline"] is None
    assert before["communicators"][0]["ranks"] == 8

    assert run("run", "--once", *options).status == 1

    after = json.loads(run("status", "--json", *options).out)
    (incident,) = after["incidents"]
    assert set(incident) == FIELDS
    assert after["last_tick"]["outcome"] == "ok"
    text = run("status", *options)
    assert text.status == 0
    assert incident["id"] in text.out
    assert "Baseline: none" in text.out

    assert json.loads(run("explain", incident["id"], "--json", *options).out) == incident
    explained = run("explain", incident["id"][:4], *options).out
    assert explained.startswith("Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711\n")
    assert "% of the job's time" in explained

    picture = tmp_path / "late.png"
    plotted = run("explain", incident["id"], "--plot", picture, *options)
    assert (plotted.status, plotted.err) == (0, f"Drawn to {picture}\n")
    assert plotted.out.startswith(explained.splitlines()[0])
    assert picture.read_bytes().startswith(b"\x89PNG")

    unknown = run("explain", "zzzz", *options)
    assert unknown.status == 2
    assert "no incident zzzz" in unknown.err


def test_an_incident_older_than_the_store_keeps_cannot_be_drawn(run: Run, options: list[str], tmp_path: Path) -> None:
    old = past(started_at=1_600_000_000.0, ended_at=1_600_000_600.0)
    with State.open(tmp_path / "state") as state:
        state.record(TickRecord(1.0, Outcome.OK, 0.0, 0), [old], 10)
    result = run("explain", old.id, "--plot", tmp_path / "old.png", *options)
    assert result.status == 3
    assert result.out.startswith("Rank 3")  # what is known is still said
    assert "It may be older than the store keeps" in result.err
    assert not (tmp_path / "old.png").exists()
