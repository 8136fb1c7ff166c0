"""What the manifests tell Kubernetes to run, run here: the probes, the plugin's copy, Prometheus' labels."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest
from deployment.kubernetes import KUBERNETES, mounts, of_kind, pod
from servers.authority import Authority
from servers.exporter import exporter
from servers.process import free_port, wait_until
from servers.prometheus import prometheus

PASSWORD = "correct horse"


class Pod:
    """One pod's Secrets and probes, on loopback."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.port = free_port()
        self.directory = directory
        authority = Authority(directory / "authority")
        certificate, key = authority.issue(name, f"DNS:{name}")
        web, self.scrape = directory / f"{name}-web", directory / f"{name}-scrape"
        for folder in (web, self.scrape):
            folder.mkdir()
        (web / "tls.crt").write_bytes(certificate.read_bytes())
        (web / "tls.key").write_bytes(key.read_bytes())
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
        self.web_config = web / "web.yml"
        self.web_config.write_text(
            "tls_server_config: {cert_file: tls.crt, key_file: tls.key}\n"
            f"basic_auth_users: {{prometheus: '{hashed}'}}\n"
        )
        (self.scrape / "ca.crt").write_bytes(authority.certificate.read_bytes())
        (self.scrape / "username").write_text("prometheus")
        self.log_in(PASSWORD)

    def log_in(self, password: str) -> None:
        (self.scrape / "password").write_text(password + "\n")

    def probe(self, which: str) -> subprocess.CompletedProcess[str]:
        """What kubelet would do."""
        (container,) = pod(self.name)["containers"]
        command = container[which]["exec"]["command"]
        (listed,) = container["ports"]
        seen = mounts(container, pod(self.name))
        assert command[:2] == ["python3", "-I"]
        assert seen[command[4]]["secret"]["secretName"] == self.scrape.name
        url = command[3].replace(f":{listed['containerPort']}/", f":{self.port}/")
        return subprocess.run(
            [sys.executable, "-I", KUBERNETES / Path(command[2]).name, url, self.scrape],
            capture_output=True,
            text=True,
            check=False,
        )


def started(arguments: list[object], directory: Path) -> subprocess.Popen[bytes]:
    with (directory / "output.log").open("wb") as log:
        return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], stdout=log, stderr=log)


@pytest.fixture(scope="module")
def exporter_pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    each = Pod("nccl-exporter", tmp_path_factory.mktemp("exporter"))
    (each.directory / "sources").mkdir()
    arguments = [
        "nccl_exporter",
        f"--source-dir={each.directory / 'sources'}",
        f"--web.listen-address=127.0.0.1:{each.port}",
        f"--web.config.file={each.web_config}",
    ]
    process = started(arguments, each.directory)
    try:
        yield each
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def daemon_pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    each = Pod("nccl-sentinel", tmp_path_factory.mktemp("daemon"))
    config = each.directory / "sentinel.toml"
    config.write_text(
        f"""[prometheus]
        url = "http://127.0.0.1:9"
        [alertmanager]
        urls = []
        [state]
        directory = "{each.directory}"
        [web]
        listen_address = "127.0.0.1:{each.port}"
        config_file = "{each.web_config}"
        """
    )
    process = started(["sentinel", "run", f"--config={config}"], each.directory)
    try:
        yield each
    finally:
        process.kill()
        process.wait()


def test_the_exporters_probes(exporter_pod: Pod) -> None:
    wait_until(lambda: exporter_pod.probe("startupProbe").returncode == 0, "the exporter is up")
    assert exporter_pod.probe("livenessProbe").returncode == 0

    exporter_pod.log_in("wrong")
    refused = exporter_pod.probe("livenessProbe")
    assert refused.returncode == 1
    assert "401" in refused.stderr
    exporter_pod.log_in(PASSWORD)


def test_another_authority_is_not_trusted(exporter_pod: Pod) -> None:
    wait_until(lambda: exporter_pod.probe("startupProbe").returncode == 0, "the exporter is up")
    own = (exporter_pod.scrape / "ca.crt").read_bytes()
    (exporter_pod.scrape / "ca.crt").write_bytes(Authority(exporter_pod.directory / "other").certificate.read_bytes())
    refused = exporter_pod.probe("livenessProbe")
    (exporter_pod.scrape / "ca.crt").write_bytes(own)
    assert refused.returncode == 1
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr


def test_a_daemon_that_sees_nothing_is_healthy_and_not_ready(daemon_pod: Pod) -> None:
    wait_until(lambda: daemon_pod.probe("startupProbe").returncode == 0, "the daemon is up")
    assert daemon_pod.probe("livenessProbe").returncode == 0
    unready = daemon_pod.probe("readinessProbe")
    assert unready.returncode == 1
    assert "503" in unready.stderr


def test_nobody_there_is_not_healthy(tmp_path: Path) -> None:
    absent = Pod("nccl-exporter", tmp_path).probe("livenessProbe")
    assert absent.returncode == 1
    assert "ConnectionRefusedError" in absent.stderr


def test_the_plugin_is_copied_for_the_job(tmp_path: Path) -> None:
    job = pod("llm-7b")
    (copying,) = job["initContainers"]
    (mount,) = copying["volumeMounts"]
    *shell, line = copying["command"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run([*shell, line.replace(mount["mountPath"], str(tmp_path))], check=True, env={"PATH": path})
    environment = {each["name"]: each.get("value") for each in job["containers"][0]["env"]}
    copied = tmp_path / Path(environment["NCCL_PROFILER_PLUGIN"]).relative_to(mount["mountPath"])
    assert copied.read_bytes().startswith(b"\x7fELF")


def ranks(pods: tuple[str, ...]) -> str:
    """Processes of two pods of one node, with the same pid."""
    return "".join(
        f'nccl_communicator_info{{comm="0000000000000001",rank="{rank}",node="{name}",pid="7",job_id="j"}} 1\n'
        f'nccl_collective_started_total{{comm="0000000000000001",rank="{rank}",op="AllReduce"}} 1\n'
        for rank, name in enumerate(pods)
    )


def scrape_options(monitor: dict[str, Any]) -> str:
    """What the operator makes of a monitor's relabelings: the same under other names, with its defaults."""
    names = {"sourceLabels": "source_labels", "targetLabel": "target_label"}
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    lists = {
        ours: [{names.get(key, key): value for key, value in each.items()} for each in endpoint[theirs]]
        for ours, theirs in (("relabel_configs", "relabelings"), ("metric_relabel_configs", "metricRelabelings"))
    }
    discovered = {"source_labels": [], "target_label": "__meta_kubernetes_pod_node_name", "replacement": "gpu-17"}
    lists["relabel_configs"].insert(0, discovered)
    return json.dumps(lists)[1:-1]


def test_a_rank_is_on_its_node_and_processes_are_told_apart(tmp_path: Path) -> None:
    options = scrape_options(of_kind("PodMonitor")["nccl-exporter"])
    with exporter() as served:
        served.text = ranks(("trainer-0", "trainer-1"))
        with prometheus(tmp_path, [served.target], options=options) as url:

            def answer(query: str) -> list[dict[str, Any]]:
                got = httpx.get(f"{url}/api/v1/query", params={"query": query}, trust_env=False).json()
                return [each["metric"] for each in got["data"]["result"]]

            wait_until(lambda: len(answer("nccl_communicator_info")) == 2, "both ranks are scraped")
            told = [
                {name: each.get(name) for name in ("job", "instance", "node", "pid", "exported_node")}
                for each in sorted(answer("nccl_communicator_info"), key=lambda found: found["rank"])
            ]
            place = {"job": "nccl-exporter", "instance": "gpu-17", "node": "gpu-17", "exported_node": None}
            assert told == [{**place, "pid": "trainer-0:7"}, {**place, "pid": "trainer-1:7"}]
            assert [each.get("pid") for each in answer("nccl_collective_started_total")] == [None, None]
