"""The daemon as a process, with a real Prometheus and a real Alertmanager."""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.job import Job
from servers.alertmanager import alertmanager
from servers.daemon import daemon
from servers.metrics_text import openmetrics
from servers.process import wait_until
from servers.prometheus import fill, prometheus
from servers.webhook import Webhook, webhook

from sentinel.config.settings import Settings
from sentinel.daemon.cycle import Report
from sentinel.daemon.service import run_forever
from sentinel.daemon.timetable import Timetable
from sentinel.daemon.watch import Watch
from sentinel.state.store import State

TICK = 15


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ten healthy minutes and five in which rank 3 is late, up to two minutes from now."""
    directory = tmp_path_factory.mktemp("prometheus")
    start = time.time() // TICK * TICK - 900.0 + 120.0
    job = Job(tick_seconds=float(TICK), start=start, step_seconds=0.1, job_id="4711")
    snapshots = list(job.ticks(40))
    job.delay_seconds[3] = 0.02
    fill(directory, openmetrics([*snapshots, *job.ticks(20)]))
    with prometheus(directory) as address:
        yield address


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as received:
        yield received


def write_config(path: Path, url: str, *replicas: str, timeout: str = "10s") -> Path:
    path.write_text(
        f'prometheus = {{ url = "{url}", timeout = "{timeout}" }}\n'
        f"alertmanager = {{ urls = {json.dumps(replicas)} }}\n"
        f'schedule = {{ tick = "{TICK}s", evaluation_delay = "1s" }}\n'
        f'state = {{ directory = "{path.parent / "state"}" }}\n'
        'web = { listen_address = "127.0.0.1:0" }\n'
    )
    return path


def test_the_late_rank_is_found_told_and_remembered(tmp_path: Path, url: str, hook: Webhook) -> None:
    with alertmanager(tmp_path / "alertmanager", hook.url) as replica:
        config = write_config(tmp_path / "sentinel.toml", url, replica)
        with daemon(config) as first:
            first.wait_for("incident opened")
            wait_until(
                lambda: len(hook.find("firing", alertname="NcclRankLate", rank="3", job_id="4711")) == 1, "it fires"
            )
            with daemon(write_config(tmp_path / "second.toml", url, replica)) as second:
                assert second.process.wait(20) == 2
                assert "another daemon" in (tmp_path / "second.log").read_text()
            assert first.stop() < 5.0
        with State.open_readonly(tmp_path / "state") as state:
            (incident,) = state.open_incidents()
            assert state.last_tick() is not None
        with daemon(config) as again:
            again.wait_for("watching")
            with State.open_readonly(tmp_path / "state") as state:
                began = state.last_tick().time
                wait_until(lambda: state.last_tick().time > began, "it ticks on")
                assert state.incidents_since(0.0)[0].started_at == incident.started_at
                assert [one.id for one in state.incidents_since(0.0)] == [incident.id]
            assert again.stop(signal.SIGINT) < 5.0
    assert len(hook.find("firing", alertname="NcclRankLate")) == 1  # the restart is the same alert


def test_a_reload_takes_a_good_file_and_refuses_a_bad_one(tmp_path: Path, url: str) -> None:
    config = write_config(tmp_path / "sentinel.toml", url)
    with daemon(config) as running:
        running.wait_for("watching")
        config.write_text(config.read_text() + "[shedule]\n")
        running.process.send_signal(signal.SIGHUP)
        running.wait_for("configuration not reloaded: the old one stays")
        write_config(config, url)
        running.process.send_signal(signal.SIGHUP)
        running.wait_for("watching", 2)
        assert running.stop() < 5.0
    assert "shedule: no such key" in str(running.events())


def test_it_stops_at_once_while_prometheus_does_not_answer(tmp_path: Path, hook: Webhook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with daemon(write_config(tmp_path / "sentinel.toml", address, timeout="1m")) as running:
            running.wait_for("watching")
            connection, _ = silent.accept()
            with connection:
                assert running.stop() < 5.0


def test_without_prometheus_it_runs_on_and_says_so(tmp_path: Path) -> None:
    with daemon(write_config(tmp_path / "sentinel.toml", "http://127.0.0.1:9")) as running:
        running.wait_for("tick failed")
        assert running.process.poll() is None
        assert running.stop() < 5.0
    assert "cannot query Prometheus" in str(running.events())


def test_ticks_go_on_when_the_scheduler_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is dead, or waits for a time that the machine's clock was set away from."""
    started: list[Timetable] = []

    class Paused(Timetable):
        def start(self) -> None:
            super().start()
            started.append(self)
            if len(started) == 1:
                self._scheduler.pause()

    ticks: list[Report] = []
    run = Watch.run
    monkeypatch.setattr("sentinel.daemon.service.Timetable", Paused)
    monkeypatch.setattr(Watch, "run", lambda self: ticks.append(run(self)) or ticks[-1])
    settings = Settings.model_validate(
        {
            "prometheus": {"url": "http://127.0.0.1:9", "retries": 0},
            "alertmanager": {"urls": []},
            "schedule": {"tick": "1s", "evaluation_delay": "0s"},
            "state": {"directory": tmp_path / "state"},
            "web": {"listen_address": "127.0.0.1:0"},
        }
    )

    def stop() -> None:
        wait_until(lambda: len(ticks) >= 5, "ticks go on")
        os.kill(os.getpid(), signal.SIGTERM)

    stopper = threading.Thread(target=stop)
    stopper.start()
    run_forever(settings, lambda: settings, time.time)
    stopper.join()
    assert len(started) == 2
