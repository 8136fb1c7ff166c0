"""The same history in Prometheus and in VictoriaMetrics, as both are shipped."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cluster.job import Job
from servers import prometheus, victoriametrics
from servers.command import Run
from servers.metrics_text import openmetrics

TICK_SECONDS = 15.0
HEALTHY, LATE = 60, 20


def options(directory: Path, url: str) -> list[str]:
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "sentinel.toml"
    config.write_text(
        f'prometheus = {{ url = "{url}" }}\n'
        "alertmanager = { urls = [] }\n"
        f'schedule = {{ tick = "{TICK_SECONDS:g}s", evaluation_delay = "45s", prime_ticks = 60 }}\n'
        f'state = {{ directory = "{directory / "state"}" }}\n'
    )
    return ["--config", str(config)]


def test_both_stores_show_the_same_incident(run: Run, tmp_path: Path) -> None:
    # Up to now: VictoriaMetrics does not show the last 30 s, and the daemon must not take that for silence. And not at
    # full steps, to which it would rather move what is asked for.
    start = time.time() // TICK_SECONDS * TICK_SECONDS - (HEALTHY + LATE - 1) * TICK_SECONDS + 7.0
    job = Job(tick_seconds=TICK_SECONDS, start=start, step_seconds=0.1, job_id="4711", comm_name="dp")
    snapshots = list(job.ticks(HEALTHY))
    job.delay_seconds[3] = 0.02
    text = openmetrics([*snapshots, *job.ticks(LATE)])

    def look(url: str, name: str) -> tuple[Any, Any, Any]:
        known = options(tmp_path / name, url)
        end = start + (HEALTHY + LATE - 4) * TICK_SECONDS
        backtest = run("backtest", "--from", start, "--to", end, "--json", *known)
        once = run("run", "--once", *known)
        assert (backtest.status, once.status) == (1, 1)
        status = run("status", "--json", *known)
        return (
            json.loads(backtest.out)["incidents"],
            json.loads(status.out)["incidents"],
            json.loads(status.out)["communicators"],
        )

    prometheus.fill(tmp_path / "prometheus", text)
    with prometheus.prometheus(tmp_path / "prometheus") as url:
        one = look(url, "one")
    with victoriametrics.victoriametrics(tmp_path / "victoriametrics") as url:
        victoriametrics.fill(url, text)
        other = look(url, "other")

    for found, same in zip(one[:2], other[:2], strict=True):
        ((incident,), (its_twin,)) = found, same
        assert (incident["verdict"], incident["ranks"], incident["job_id"]) == ("late_rank", [3], "4711")
        for name in ("id", "tier", "started_at", "victims"):
            assert its_twin[name] == incident[name]
    # Of the same instants: VictoriaMetrics keeps decimals, Prometheus all bits.
    assert other[0][0]["evidence"] == one[0][0]["evidence"]
    assert other[0][0]["cost_ratio"] == pytest.approx(one[0][0]["cost_ratio"], rel=1e-9)
    assert other[2] == one[2]
