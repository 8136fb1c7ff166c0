"""The daemon as a process, told of an alert of others, with its own alert silenced in a real Alertmanager."""

import json
import time
from pathlib import Path

import httpx
from cli.conftest import run as run
from cluster.job import Job
from servers.alertmanager import alertmanager
from servers.command import Run
from servers.daemon import daemon
from servers.metrics_text import openmetrics
from servers.notification import alert, notification
from servers.process import wait_until
from servers.prometheus import fill, prometheus
from servers.silences import silence
from servers.webhook import webhook

from sentinel.model.instant import format_instant
from sentinel.state.store import State

TICK = 15


def write_config(directory: Path, prometheus_url: str, alertmanager_url: str) -> Path:
    path = directory / "sentinel.toml"
    path.write_text(
        f'prometheus = {{ url = "{prometheus_url}" }}\n'
        f'alertmanager = {{ urls = ["{alertmanager_url}"], resend = "1s" }}\n'
        f'schedule = {{ tick = "{TICK}s", evaluation_delay = "1s" }}\n'
        f'state = {{ directory = "{directory / "state"}" }}\n'
        'log = { format = "json" }\n'
        'web = { listen_address = "127.0.0.1:0" }\n'
        "[[context.match]]\n"
        "matchers = ['alertname=~\"Node.*\"']\n"
        'effect = "freeze"\n'
    )
    return path


def test_what_others_say_and_who_has_silenced_it_is_shown(run: Run, tmp_path: Path) -> None:
    start = time.time() // TICK * TICK - 900.0 + 120.0
    job = Job(tick_seconds=float(TICK), start=start, step_seconds=0.1, job_id="4711")
    snapshots = list(job.ticks(40))
    job.delay_seconds[3] = 0.02
    fill(tmp_path / "prometheus", openmetrics([*snapshots, *job.ticks(20)]))
    with (
        prometheus(tmp_path / "prometheus") as store,
        webhook() as hook,
        alertmanager(tmp_path / "alertmanager", hook.url) as manager,
        daemon(config := write_config(tmp_path, store, manager)) as running,
    ):
        wait_until(lambda: bool(hook.find("firing", alertname="NcclRankLate")), "the alert is delivered")
        (serving,) = (each for each in running.events() if each["event"] == "serving")
        page = f"http://{serving['address']}"
        body = notification(
            alert(alertname="NodeMaintenance", instance="node0:9100", starts_at=format_instant(time.time()))
        )
        headers = {"Content-Type": "application/json"}
        told = httpx.post(f"{page}/webhook/alertmanager", content=body, headers=headers, trust_env=False)
        assert told.status_code == 200
        ends_at = time.time() // 1 + 3600.0
        id_ = silence(manager, ends_at, "swap the fan", alertname="NcclRankLate")

        def both() -> bool:
            with State.open_readonly(tmp_path / "state") as state:
                return any(each.context and each.silenced_by for each in state.open_incidents())

        wait_until(both, "a tick has noted both", 60.0)
        metrics = httpx.get(f"{page}/metrics", trust_env=False).text
        assert 'nccl_sentinel_context_alerts_matched{effect="freeze"} 1.0' in metrics
        assert 'nccl_sentinel_silence_reads_total{outcome="error"} 0.0' in metrics
        running.stop()
        status = json.loads(run("status", "--json", "--config", config).out)
        (incident,) = status["incidents"]
        assert incident["silenced_by"] == [
            {"id": id_, "created_by": "ops", "comment": "swap the fan", "ends_at": format_instant(ends_at)}
        ]
        (note,) = incident["context"]
        assert (note["alertname"], note["effect"], note["ended_at"]) == ("NodeMaintenance", "freeze", None)
        assert (
            f"(silenced until {format_instant(ends_at)} by ops; NodeMaintenance)"
            in run("status", "--config", config).out
        )
        story = run("explain", incident["id"], "--config", config).out
        assert "known  NodeMaintenance (freeze), since " in story
        assert '         instance="node0:9100"' in story
        assert f"muted  until {format_instant(ends_at)} by ops: swap the fan\n         silence {id_}\n" in story
        with State.open_readonly(tmp_path / "state") as state:
            (freeze,) = state.freezes_since(0.0)
            assert freeze.place.node == "node0"
        described = [each["annotations"]["description"] for each in hook.find("firing", alertname="NcclRankLate")]
        assert described  # the alert itself went out before anything else was known
