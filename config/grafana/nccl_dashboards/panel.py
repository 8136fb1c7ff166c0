# SPDX-License-Identifier: Apache-2.0
"""Panels: what each kind needs in Grafana's JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nccl_dashboards.about import About

__all__ = [
    "DATASOURCE",
    "Column",
    "Panel",
    "Query",
    "alert_groups",
    "heatmap",
    "stat",
    "state_timeline",
    "status_history",
    "table",
    "text",
    "timeseries",
]

Json = dict[str, Any]

DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_LIST = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_TOOLTIP = {"mode": "multi", "sort": "desc"}


@dataclass(frozen=True)
class Query:
    """An expression and what its series are called in the legend."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Column:
    """A column of a table: the value of an expression, one row for each set of labels."""

    title: str
    unit: str
    expression: str


@dataclass(frozen=True)
class Panel:
    """One panel, without its place. `width` is in 24ths of the page, `height` in Grafana's grid units."""

    kind: str
    title: str
    about: About
    width: int = 12
    height: int = 8
    targets: Sequence[Json] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def json(self, number: int, x: int, y: int) -> Json:
        """As Grafana reads it, at a place of the grid."""
        panel: Json = {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.about.description,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
        }
        if self.targets:
            panel["datasource"] = DATASOURCE
            panel["targets"] = list(self.targets)
            panel["fieldConfig"] = {"defaults": {"unit": self.about.unit, **self.defaults}, "overrides": []}
        return panel | {"options": dict(self.options), **self.more}


def timeseries(
    title: str, about: About, *queries: Query, width: int = 12, stacked: bool = False, minimum: float | None = 0.0
) -> Panel:
    """Lines over time; `stacked` where they are parts of a whole."""
    custom = {
        "lineWidth": 1,
        "fillOpacity": 20 if stacked else 0,
        "showPoints": "auto",
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    defaults: Json = {"custom": custom} | ({} if minimum is None else {"min": minimum})
    options = {"legend": _LIST, "tooltip": _TOOLTIP}
    return Panel("timeseries", title, about, width, targets=_range(queries), options=options, defaults=defaults)


def stat(title: str, about: About, *queries: Query, width: int = 4, bad: str = "", absent: str = "") -> Panel:
    """One number for each series. `bad` is red: "above 0" or "below 1". `absent` stands there without a series."""
    steps: list[Json] = [{"color": "green", "value": None}]
    if bad == "above 0":
        steps = [{"color": "green", "value": None}, {"color": "red", "value": 1e-9}]
    elif bad == "below 1":
        steps = [{"color": "red", "value": None}, {"color": "green", "value": 1}]
    defaults: Json = {"thresholds": {"mode": "absolute", "steps": steps}} | ({"noValue": absent} if absent else {})
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "justifyMode": "auto",
        "orientation": "auto",
        "textMode": "auto",
    }
    targets = [each | {"instant": True, "range": False} for each in _range(queries)]
    return Panel("stat", title, about, width, 4, targets=targets, options=options, defaults=defaults)


def table(
    title: str, about: About, labels: Mapping[str, str], columns: Sequence[Column], width: int = 24, height: int = 8
) -> Panel:
    """Labels, by what they are called, and numbers; the row with the largest first number is on top."""
    targets = [
        each | {"format": "table", "instant": True, "range": False}
        for each in _range([Query(column.expression, "") for column in columns])
    ]
    values = ["Value" if len(columns) == 1 else f"Value #{each['refId']}" for each in targets]
    order = [*labels, *values]
    transformations: list[Json] = [
        {"id": "merge", "options": {}},
        {"id": "filterFieldsByName", "options": {"include": {"names": order}}},
        {
            "id": "organize",
            "options": {
                "excludeByName": {},
                "indexByName": {name: index for index, name in enumerate(order)},
                "renameByName": dict(labels)
                | {value: column.title for value, column in zip(values, columns, strict=True)},
            },
        },
    ]
    overrides = [
        {
            "matcher": {"id": "byName", "options": column.title},
            "properties": [{"id": "unit", "value": column.unit}],
        }
        for column in columns
    ]
    more = {
        "fieldConfig": {"defaults": {"unit": about.unit, "custom": {"filterable": True}}, "overrides": overrides},
        "transformations": transformations,
    }
    options = {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": columns[0].title, "desc": True}]}
    return Panel("table", title, about, width, height, targets=targets, options=options, more=more)


def heatmap(title: str, about: About, query: Query, width: int = 12) -> Panel:
    """How many, by bucket and time. The query sums buckets of a histogram by le."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "fill": "dark-orange", "exponent": 0.5, "steps": 64},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"show": True, "mode": "single", "yHistogram": False, "showColorScale": False},
        "yAxis": {"axisPlacement": "left", "unit": about.unit},
    }
    targets = [each | {"format": "heatmap"} for each in _range([query])]
    return Panel("heatmap", title, about, width, targets=targets, options=options)


def status_history(title: str, about: About, query: Query, width: int = 24, height: int = 12) -> Panel:
    """A row for each series, a cell for each moment, the darker the larger."""
    defaults = {
        "color": {"mode": "continuous-YlRd"},
        "min": 0,
        "custom": {"fillOpacity": 90, "lineWidth": 0},
    }
    options = {
        "showValue": "never",
        "rowHeight": 0.9,
        "colWidth": 1.0,
        "legend": _LIST | {"showLegend": False},
        "tooltip": {"mode": "single", "sort": "none"},
    }
    # Past a cell a pixel Grafana shows none.
    more = {"maxDataPoints": 100}
    return Panel(
        "status-history", title, about, width, height, _range([query]), options=options, defaults=defaults, more=more
    )


def state_timeline(title: str, about: About, query: Query, width: int = 24, height: int = 8) -> Panel:
    """A row for each series, with bars while it has a value."""
    defaults = {
        "color": {"mode": "thresholds"},
        "thresholds": {"mode": "absolute", "steps": [{"color": "red", "value": None}]},
        "custom": {"fillOpacity": 70, "lineWidth": 0},
    }
    options = {
        "mergeValues": True,
        "showValue": "auto",
        "alignValue": "left",
        "rowHeight": 0.9,
        "legend": _LIST | {"showLegend": False},
        "tooltip": {"mode": "single", "sort": "none"},
    }
    return Panel("state-timeline", title, about, width, height, _range([query]), options=options, defaults=defaults)


def alert_groups(title: str, about: About, alertmanager: str, labels: str) -> Panel:
    """What an Alertmanager has now, of a data source with that name and of alerts with these labels."""
    options = {"alertmanager": alertmanager, "labels": labels, "expandAll": True}
    return Panel("alertGroups", title, about, 24, 10, options=options)


def text(title: str, description: str, markdown: str, height: int = 4) -> Panel:
    """Words."""
    return Panel(
        "text", title, About("none", description), 24, height, options={"mode": "markdown", "content": markdown}
    )


def _range(queries: Sequence[Query]) -> list[Json]:
    return [
        {
            "refId": chr(ord("A") + index),
            "datasource": DATASOURCE,
            "expr": query.expression,
            "legendFormat": query.legend or "__auto",
            "range": True,
        }
        for index, query in enumerate(queries)
    ]
