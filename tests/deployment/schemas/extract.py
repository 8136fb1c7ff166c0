"""Makes the schemas that the manifests are checked against; run by hand, see README.md.

Usage: extract.py FOLDER-OF-KUBERNETES-SCHEMAS; Python has to find cloudcoil.models.prometheus_operator.
"""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

KINDS = {
    "io.k8s.api.apps.v1": ("DaemonSet", "Deployment"),
    "io.k8s.api.core.v1": ("ConfigMap", "Namespace", "PersistentVolumeClaim", "Pod", "Secret", "Service"),
    "io.k8s.api.networking.v1": ("NetworkPolicy",),
    "io.k8s.api.batch.v1": ("Job",),
}
OPERATOR_KINDS = ("PodMonitor", "PrometheusRule", "ServiceMonitor")
WORDS_ONLY = {"description", "title", "default", "format"}


def closed(schema: Any) -> Any:
    """Without what only explains, and with null and every field that is not named refused."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: closed(each) for name, each in value.items()} if key in {"properties", "$defs"} else closed(value)
        for key, value in schema.items()
        if key not in WORDS_ONLY and not key.startswith("x-kubernetes-")
    }
    if isinstance(kept.get("type"), list):
        kept["type"] = next(each for each in kept["type"] if each != "null")
    if {"type": "null"} in kept.get("anyOf", ()):
        kept["anyOf"].remove({"type": "null"})
    if kept.get("pattern", "").startswith("^(?i)"):  # flags stand at the start in Python
        kept["pattern"] = "(?i)^" + kept["pattern"].removeprefix("^(?i)")
    if kept.get("properties"):
        kept["additionalProperties"] = False
    return kept


def references(schema: Any) -> set[str]:
    """Names of the definitions that a schema refers to."""
    return set(re.findall(r'"\$ref": "[^"]*/([^"/]+)"', json.dumps(schema)))


def kubernetes(folder: Path) -> dict[str, Any]:
    """The definitions of KINDS and of all that they refer to, by Kubernetes' own names."""
    known = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    wanted = {f"{group}.{kind}" for group, kinds in KINDS.items() for kind in kinds}
    found: dict[str, Any] = {}
    while missing := wanted - found.keys():
        found |= {name: closed(known[name]) for name in missing}
        wanted |= {other for name in missing for other in references(found[name])}
    return {"$defs": json.loads(json.dumps(found).replace("/api/_definitions.json#", "#"))}


def operator(kind: str) -> dict[str, Any]:
    """The definition of one of the Prometheus operator's kinds; its metadata is Kubernetes' own."""
    model = getattr(importlib.import_module("cloudcoil.models.prometheus_operator.v1"), kind)
    schema = closed(model.model_json_schema(by_alias=True))
    schema["required"] = ["apiVersion", "kind", "metadata", "spec"]
    return dict(schema)


def write(name: str, schema: dict[str, Any]) -> None:
    """In the order of names, so that a change can be seen."""
    text = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, indent=1, sort_keys=True)
    Path(__file__).with_name(f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write("kubernetes", kubernetes(Path(sys.argv[1])))
    for each in OPERATOR_KINDS:
        write(each.lower(), operator(each))
