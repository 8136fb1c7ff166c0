"""What is shipped for Kubernetes, as data, and the schemas of its objects."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema
import yaml
from deployment.rule_files import CONFIG

KUBERNETES = CONFIG / "kubernetes"
OPERATOR = KUBERNETES / "prometheus-operator"
MANIFESTS = sorted(file for file in KUBERNETES.rglob("*.yaml") if file.name != "kustomization.yaml")
GUIDE = CONFIG.parent / "docs" / "deployment-kubernetes.md"
_SCHEMAS = Path(__file__).with_name("schemas")


def documents(file: Path) -> list[dict[str, Any]]:
    """Every object of a manifest, in order."""
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def of_kind(kind: str, *files: Path) -> dict[str, dict[str, Any]]:
    """The objects of a kind, by name."""
    found = [each for file in files or MANIFESTS for each in documents(file) if each["kind"] == kind]
    return {each["metadata"]["name"]: each for each in found}


@cache
def validator(kind: str) -> Callable[[object], object]:
    """Raises JsonSchemaValueException for what is no such object, also for a field that is not known."""
    own = _SCHEMAS / f"{kind.lower()}.json"
    if own.exists():
        schema = json.loads(own.read_text(encoding="utf-8"))
    else:
        schema = json.loads((_SCHEMAS / "kubernetes.json").read_text(encoding="utf-8"))
        (name,) = (each for each in schema["$defs"] if each.endswith(f".{kind}"))
        schema["$ref"] = f"#/$defs/{name}"
    compiled: Callable[[object], object] = fastjsonschema.compile(schema, use_default=False)
    return compiled


def pod(name: str) -> dict[str, Any]:
    """The pod that a DaemonSet, a Deployment or a Job of that name makes."""
    (owner,) = (each[name] for kind in ("DaemonSet", "Deployment", "Job") if name in (each := of_kind(kind)))
    spec: dict[str, Any] = owner["spec"]["template"]["spec"]
    return spec


def mounts(container: dict[str, Any], spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a container sees of the pod's volumes, by path."""
    volumes = {each["name"]: each for each in spec["volumes"]}
    return {each["mountPath"]: volumes[each["name"]] for each in container["volumeMounts"]}
