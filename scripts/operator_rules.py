# SPDX-License-Identifier: Apache-2.0
"""Writes the rules of config/prometheus as the Prometheus operator takes them. Same rules, same bytes."""

import sys
from pathlib import Path
from textwrap import indent

CONFIG = Path(__file__).resolve().parents[1] / "config"
SUFFIX = ".rules.yml"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Made of the rules in config/prometheus by `make operator-rules`: change those.
"""
MANIFEST = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {name}
  labels: {{app.kubernetes.io/name: nccl-sentinel, app.kubernetes.io/part-of: nccl-sentinel}}
spec:
"""


def manifest(rules: Path) -> str:
    """One object a file, comments and all."""
    _, separator, groups = rules.read_text(encoding="utf-8").partition("\ngroups:\n")
    return MANIFEST.format(name=rules.name.removesuffix(SUFFIX)) + indent(separator.lstrip("\n") + groups, "  ")


if __name__ == "__main__":
    default = CONFIG / "kubernetes" / "prometheus-operator" / "rules.yaml"
    written = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    parts = [manifest(each) for each in sorted((CONFIG / "prometheus").glob(f"*{SUFFIX}"))]
    written.write_text(HEAD + "---\n".join(parts), encoding="utf-8")
