"""Every process of the demo, from the recorded job to the webhook."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from sentinel.demo.configuration import alertmanager_yaml, daemon_toml, prometheus_yaml
from sentinel.demo.port import free_ports
from sentinel.demo.program import find_program
from sentinel.demo.scenario import Scenario
from sentinel.demo.service import Service, last_lines
from sentinel.demo.webhook import WebhookReceiver
from sentinel.errors import SentinelError
from sentinel.native import player_path, plugin_path
from sentinel.state.store import State
from sentinel.trace import PlayerGroup, read_trace

__all__ = ["Chain"]

_JOB = "demo"
_TIMEOUT_SECONDS = 2.0
_BUILD_SECONDS = 60.0


class Chain:
    """Starts everything in a folder, and as a context manager stops what is still running.

    SentinelError when a program is missing, the trace cannot be read or the steps are not in it.
    """

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.folder = folder
        prometheus, alertmanager = find_program("prometheus"), find_program("alertmanager", "prometheus-alertmanager")
        exporter, self.sentinel = find_program("nccl-exporter"), find_program("sentinel")
        steps = {"healthy": scenario.healthy, "fault": scenario.fault}
        for name in ("job", "job-work", "state", "prometheus", "alertmanager"):
            (folder / name).mkdir()
        self.players = PlayerGroup(
            read_trace(scenario.trace_dir, ops_per_step=scenario.ops_per_step),
            steps,
            plugin=plugin_path(),
            player=player_path(),
            source_dir=folder / "job",
            work_dir=folder / "job-work",
            pace=1.0,
            environment={"NCCL_SENTINEL_JOB": _JOB},
        )
        exporter_port, prometheus_port, alertmanager_port, daemon_port = free_ports(4)
        self.prometheus_url = f"http://127.0.0.1:{prometheus_port}"
        self.alertmanager_url = f"http://127.0.0.1:{alertmanager_port}"
        self.exporter_url = f"http://127.0.0.1:{exporter_port}"
        self.daemon_url = f"http://127.0.0.1:{daemon_port}"
        self.webhook = WebhookReceiver()
        self._configure(exporter_port, scenario.stall_after)
        self._client = httpx.Client(timeout=_TIMEOUT_SECONDS, trust_env=False)
        self._services: list[Service] = []
        self._commands: dict[str, list[str | Path]] = {
            "nccl-exporter": [
                exporter, "--source-dir", folder / "job", "--web.listen-address", f"127.0.0.1:{exporter_port}"
            ],
            "prometheus": [
                prometheus,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{prometheus_port}",
            ],
            "alertmanager": [
                alertmanager,
                f"--config.file={folder / 'alertmanager.yml'}",
                f"--storage.path={folder / 'alertmanager'}",
                f"--web.listen-address=127.0.0.1:{alertmanager_port}",
                "--cluster.listen-address=",
            ],
        }  # fmt: skip

    def __enter__(self) -> Self:
        """Start the job and the servers; the daemon waits for `start_daemon`."""
        try:
            self.players.start("healthy")
            for name in self._commands:
                self._start(name)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything that was started."""
        self.stop()

    def stop(self) -> None:
        """Stop everything that was started, the last first."""
        while self._services:
            self._services.pop().stop()
        self.players.stop()
        self._client.close()
        self.webhook.close()

    def check(self) -> None:
        """SentinelError when a process has ended that should not have."""
        self.players.poll()
        for service in self._services:
            service.check()

    def servers_ready(self) -> bool:
        """Whether exporter, Prometheus and Alertmanager answer."""
        return all(
            self._answers(url)
            for url in (
                f"{self.exporter_url}/metrics",
                f"{self.prometheus_url}/-/ready",
                f"{self.alertmanager_url}/-/ready",
            )
        )

    def scrapes(self) -> int:
        """How often Prometheus has collected the job's metrics."""
        return int(self._value("max(count_over_time(nccl_communicator_info[10m]))"))

    def build_baseline(self) -> str:
        """Run `sentinel baseline build` over what Prometheus has; what it printed. SentinelError when it fails."""
        command: list[str | Path] = [
            self.sentinel,
            "baseline",
            "build",
            "--config",
            self.folder / "sentinel.toml",
            "--from",
            "1m",
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False)
        if result.returncode:
            raise SentinelError("sentinel baseline build failed", why=(result.stderr or result.stdout).strip())
        return (result.stderr + result.stdout).strip()

    def start_daemon(self) -> None:
        """Start `sentinel run`."""
        self._commands["sentinel"] = [self.sentinel, "run", "--config", self.folder / "sentinel.toml"]
        self._start("sentinel")

    def daemon_ready(self) -> bool:
        """Whether the daemon has looked at the series."""
        with State.open_readonly(self.folder / "state") as state:
            return state.last_tick() is not None

    def logs(self) -> str:
        """The last lines of every process's log."""
        return "\n".join(f"{name}:\n{last_lines(self._log(name), 3)}" for name in self._commands)

    def _start(self, name: str) -> None:
        self._services.append(Service(name, self._commands[name], log=self._log(name)))

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _configure(self, exporter_port: int, stall_after: str) -> None:
        files = {
            "prometheus.yml": prometheus_yaml(exporter_port),
            "alertmanager.yml": alertmanager_yaml(self.webhook.url),
            "sentinel.toml": daemon_toml(
                self.prometheus_url,
                self.alertmanager_url,
                self.daemon_url.removeprefix("http://"),
                self.folder / "state",
                stall_after,
            ),
        }
        for name, text in files.items():
            (self.folder / name).write_text(text)

    def _answers(self, url: str) -> bool:
        try:
            return self._client.get(url).is_success
        except httpx.TransportError:
            return False

    def _value(self, query: str) -> float:
        """An instant query's only value, 0 where there is none yet."""
        try:
            answer = self._client.get(f"{self.prometheus_url}/api/v1/query", params={"query": query})
        except httpx.TransportError:  # `check` tells when Prometheus has ended
            return 0.0
        result = answer.raise_for_status().json()["data"]["result"]
        return float(result[0]["value"][1]) if result else 0.0
