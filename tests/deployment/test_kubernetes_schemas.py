"""Each object that is shipped for Kubernetes is one, field by field."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployment.kubernetes import KUBERNETES, MANIFESTS, OPERATOR, documents, of_kind, validator
from deployment.rule_files import ALERTS, RECORDING
from deployment.tool import run, tool
from fastjsonschema import JsonSchemaValueException

OBJECTS = [(file, each) for file in MANIFESTS for each in documents(file)]
ALONE = {KUBERNETES / "training-job.yaml"}  # an example


@pytest.mark.parametrize(
    ("file", "shipped"), OBJECTS, ids=[f"{each['kind']}-{each['metadata']['name']}" for _, each in OBJECTS]
)
def test_an_object_fits_its_schema(file: Path, shipped: dict[str, Any]) -> None:
    validator(shipped["kind"])(shipped)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("DaemonSet", ("spec", "template", "spec", "containers", 0, "readinessProb"), {}),
        ("DaemonSet", ("spec", "template", "spec", "containers", 0, "securityContext", "readOnlyRootFs"), True),
        ("Deployment", ("spec", "replicas"), "1"),
        ("Deployment", ("spec", "template", "spec", "volumes", 0, "configMap"), None),
        ("NetworkPolicy", ("spec", "ingress", 0, "form"), []),
        ("PodMonitor", ("spec", "podMetricsEndpoints", 0, "intervall"), "15s"),
        ("PodMonitor", ("spec", "podMetricsEndpoints", 0, "interval"), "15 s"),
        ("PodMonitor", ("spec", "podMetricsEndpoints", 0, "relabelings", 0, "action"), "remove"),
        ("ServiceMonitor", ("spec", "endpoints", 0, "basicAuth", "password"), "secret"),
        ("PrometheusRule", ("spec", "groups", 0, "rules", 0, "expression"), "up"),
        ("PrometheusRule", ("spec", "groups", 0, "rules", 0, "for"), "5 minutes"),
    ],
)
def test_what_does_not_fit_is_refused(kind: str, path: tuple[str | int, ...], value: object) -> None:
    broken = copy.deepcopy(next(iter(of_kind(kind).values())))
    place: Any = broken
    for each in path[:-1]:
        place = place[each]
    place[path[-1]] = value
    with pytest.raises(JsonSchemaValueException):
        validator(kind)(broken)


def test_a_kustomization_names_each_manifest() -> None:
    named = set()
    for folder in (KUBERNETES, OPERATOR):
        (kustomization,) = documents(folder / "kustomization.yaml")
        assert kustomization["namespace"] in of_kind("Namespace")
        named |= {folder / each for each in kustomization["resources"]}
        made = kustomization.get("configMapGenerator", [])
        assert all((folder / file).is_file() for each in made for file in each["files"])
    assert named == set(MANIFESTS) - ALONE


@pytest.mark.parametrize("folder", [KUBERNETES, OPERATOR], ids=lambda folder: folder.name)
def test_kustomize_builds_it(folder: Path) -> None:
    done = run(tool("kubectl"), "kustomize", folder)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    for each in built:
        validator(each["kind"])(each)
    names = {(each["kind"], each["metadata"]["name"]) for each in built}
    for each in built:
        spec = each.get("spec", {}).get("template", {}).get("spec", {})
        for volume in spec.get("volumes", []):
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in names


def test_rules_are_those_of_prometheus(tmp_path: Path) -> None:
    shipped = of_kind("PrometheusRule", OPERATOR / "rules.yaml")
    for file in (ALERTS, RECORDING):
        rule = shipped.pop(file.name.removesuffix(".rules.yml"))
        assert rule["spec"] == yaml.safe_load(file.read_text(encoding="utf-8"))
    assert not shipped
    again = tmp_path / "rules.yaml"
    script = KUBERNETES.parents[1] / "scripts" / "operator_rules.py"
    subprocess.run([sys.executable, script, again], check=True)
    assert again.read_text(encoding="utf-8") == (OPERATOR / "rules.yaml").read_text(encoding="utf-8"), (
        "the rules are behind those of config/prometheus: run `make operator-rules`"
    )
