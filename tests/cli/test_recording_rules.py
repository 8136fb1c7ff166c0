"""The shipped recording rules, evaluated by a real Prometheus, as what the daemon reads."""

import json
import subprocess
import time
from datetime import datetime, timedelta
from pathlib import Path

from cluster.job import Job
from servers import prometheus
from servers.command import Run
from servers.metrics_text import openmetrics
from servers.process import find_program

RULES = Path(__file__).resolve().parents[2] / "config" / "prometheus" / "nccl-sentinel-recording.rules.yml"
TICK_SECONDS = 30.0
HEALTHY, LATE = 40, 12


def test_the_recorded_sums_show_the_same_incident(run: Run, tmp_path: Path) -> None:
    start = (time.time() // TICK_SECONDS - HEALTHY - LATE) * TICK_SECONDS
    end = start + (HEALTHY + LATE - 1) * TICK_SECONDS
    job = Job(tick_seconds=TICK_SECONDS, start=start, step_seconds=0.1, job_id="4711", comm_name="dp")
    snapshots = list(job.ticks(HEALTHY))
    job.delay_seconds[3] = 0.02
    prometheus.fill(tmp_path, openmetrics([*snapshots, *job.ticks(LATE)]))
    with prometheus.prometheus(tmp_path) as url:
        evaluate = ["tsdb", "create-blocks-from", "rules", f"--start={start}", f"--end={end}", f"--url={url}"]
        subprocess.run(
            [find_program("promtool"), *evaluate, f"--output-dir={tmp_path / 'data'}", str(RULES)],
            check=True,
            capture_output=True,
        )
    found = {}
    with prometheus.prometheus(tmp_path) as url:
        for recorded in (False, True):
            config = tmp_path / f"{recorded}.toml"
            config.write_text(
                f'prometheus = {{ url = "{url}", recording_rules = {str(recorded).lower()} }}\n'
                "alertmanager = { urls = [] }\n"
                f'schedule = {{ tick = "{TICK_SECONDS:g}s" }}\n'
                f'state = {{ directory = "{tmp_path / str(recorded)}" }}\n'
            )
            result = run("backtest", "--from", start, "--to", end, "--json", "--config", str(config))
            assert result.status == 1, result
            (found[recorded],) = json.loads(result.out)["incidents"]

    assert (found[True]["verdict"], found[True]["ranks"], found[True]["job_id"]) == ("late_rank", [3], "4711")
    assert found[True]["victims"] == found[False]["victims"]
    # What a rule recorded is as old as its last evaluation.
    begun, recorded = (datetime.fromisoformat(found[each]["started_at"]) for each in (False, True))
    assert timedelta(0) <= recorded - begun <= timedelta(seconds=TICK_SECONDS)
    sizes = {rules: {cell["size_bytes"] for cell in each["evidence"]["cells"]} for rules, each in found.items()}
    assert sizes[True] == {"other"}
    assert "other" not in sizes[False]
