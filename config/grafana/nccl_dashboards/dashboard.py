# SPDX-License-Identifier: Apache-2.0
"""A dashboard: rows of panels, laid out on Grafana's grid, and what stands around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nccl_dashboards.panel import DATASOURCE, Panel
from sentinel.web.catalogue import INCIDENTS

__all__ = ["Dashboard", "Row"]

Json = dict[str, Any]

_TAG = "nccl-sentinel"
_SCHEMA = 39  # Grafana 10.4 and later read it; newer ones bring it up to date themselves
_COLUMNS = 24


@dataclass(frozen=True)
class Row:
    """Panels under a heading, from left to right and on."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Dashboard:
    """What a file holds. `uid` is its address: /d/UID."""

    uid: str
    title: str
    description: str
    variables: Sequence[Json]
    rows: Sequence[Row]
    since: str = "now-1h"

    def json(self) -> Json:
        """As Grafana provisions it."""
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": [_TAG],
            "schemaVersion": _SCHEMA,
            "editable": False,
            "graphTooltip": 1,
            "timezone": "browser",
            "time": {"from": self.since, "to": "now"},
            "refresh": "30s",
            "templating": {"list": list(self.variables)},
            "annotations": {"list": [_INCIDENTS]},
            "links": [_LINK],
            "panels": self._panels(),
        }

    def _panels(self) -> list[Json]:
        panels: list[Json] = []
        y = 0
        for row in self.rows:
            heading = {"id": len(panels) + 1, "type": "row", "title": row.title, "collapsed": False, "panels": []}
            panels.append(heading | {"gridPos": {"x": 0, "y": y, "w": _COLUMNS, "h": 1}})
            x, y, height = 0, y + 1, 0
            for panel in row.panels:
                if x + panel.width > _COLUMNS:
                    x, y, height = 0, y + height, 0
                panels.append(panel.json(len(panels) + 1, x, y))
                x, height = x + panel.width, max(height, panel.height)
            y += height
        return panels


# While an incident goes on, on every graph. Two daemons see the same ones.
_INCIDENTS: Json = {
    "name": "Incidents",
    "datasource": DATASOURCE,
    "enable": True,
    "hide": False,
    "iconColor": "red",
    "expr": f"max by (verdict, tier) ({INCIDENTS.name}) > 0",
    "titleFormat": "{{tier}} {{verdict}}",
    "textFormat": "",
    "tagKeys": "verdict,tier",
    "useValueForTime": False,
}
_LINK: Json = {
    "title": "nccl-sentinel",
    "type": "dashboards",
    "tags": [_TAG],
    "asDropdown": False,
    "icon": "external link",
    "includeVars": True,
    "keepTime": True,
    "targetBlank": False,
    "tooltip": "",
    "url": "",
}
