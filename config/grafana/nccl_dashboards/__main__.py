# SPDX-License-Identifier: Apache-2.0
"""`python -m nccl_dashboards [DIRECTORY]` writes every dashboard as JSON."""

import json
import sys
from pathlib import Path

from nccl_dashboards import bandwidth, cluster, health, incidents, ranks

_DASHBOARDS = (cluster.DASHBOARD, ranks.DASHBOARD, bandwidth.DASHBOARD, incidents.DASHBOARD, health.DASHBOARD)
_DIRECTORY = Path(__file__).resolve().parents[1] / "dashboards"


def write(directory: Path) -> None:
    """One file a dashboard, named by its uid. Same catalogues, same bytes."""
    for dashboard in _DASHBOARDS:
        text = json.dumps(dashboard.json(), indent=2, ensure_ascii=False) + "\n"
        (directory / f"{dashboard.uid}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else _DIRECTORY)
