# SPDX-License-Identifier: Apache-2.0
"""What is shipped to run the exporter in Kubernetes. tests/deployment has the rest."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CONFIG = Path(__file__).parents[2] / "config"
DIRECTORY = "/run/nccl-sentinel"


@pytest.fixture(scope="module")
def manifests() -> dict[str, Any]:
    folder = CONFIG / "kubernetes"
    files = [folder / "nccl-exporter.yaml", folder / "prometheus-operator" / "monitors.yaml"]
    documents = [each for file in files for each in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    return {document["kind"]: document for document in documents}


@pytest.fixture(scope="module")
def pod(manifests: dict[str, Any]) -> Any:
    return manifests["DaemonSet"]["spec"]["template"]["spec"]


def test_every_container_is_confined(pod: Any) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in (*pod["initContainers"], *pod["containers"]):
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]
    (exporter,) = pod["containers"]
    assert "runAsUser" not in exporter["securityContext"]


def test_exporter_sees_the_hosts_directory_and_cannot_write(pod: Any) -> None:
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    (exporter,) = pod["containers"]
    mounts = {mount["mountPath"]: mount for mount in exporter["volumeMounts"]}
    assert volumes[mounts[DIRECTORY]["name"]]["hostPath"] == {"path": DIRECTORY, "type": "DirectoryOrCreate"}
    assert all(mount["readOnly"] for mount in mounts.values())
    assert {mount["name"] for mount in mounts.values()} == volumes.keys()


def test_arguments_are_understood(pod: Any) -> None:
    (exporter,) = pod["containers"]
    done = subprocess.run(
        [sys.executable, "-m", "nccl_exporter", *exporter["args"], "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_whoever_selects_finds(manifests: dict[str, Any], pod: Any) -> None:
    labels = manifests["DaemonSet"]["spec"]["template"]["metadata"]["labels"].items()
    for kind in ("DaemonSet", "PodMonitor"):
        assert manifests[kind]["spec"]["selector"]["matchLabels"].items() <= labels
    (exporter,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in exporter["ports"]}
    assert f"--web.listen-address=:{ports['metrics']}" in exporter["args"]
    assert manifests["PodMonitor"]["spec"]["podMetricsEndpoints"][0]["port"] in ports
