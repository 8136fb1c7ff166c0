"""The shipped dashboards, as data."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deployment.rule_files import CONFIG

GRAFANA = CONFIG / "grafana"
FILES = sorted((GRAFANA / "dashboards").glob("*.json"))
_SELECTOR = re.compile(r"(?<![\w:$])(up|ALERTS|process_\w+|nccl_\w+|[a-z_]+:\w+:\w+)(?![\w:])(\{[^}]*\}|)(\[[^\]]*\]|)")
_MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
_LABELS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")


@dataclass(frozen=True)
class Asked:
    """An expression, where it stands, and what its series are called."""

    dashboard: str
    place: str
    expression: str
    legend: str = ""

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.place}"


@dataclass(frozen=True)
class Selector:
    """A metric's name, its matchers by label, and the range that stands behind it."""

    name: str
    matchers: dict[str, str]
    window: str


def read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """All but the headings."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def asked(file: Path) -> Iterator[Asked]:
    """Every expression of a dashboard, those of its annotations among them."""
    dashboard = read(file)
    for annotation in dashboard["annotations"]["list"]:
        yield Asked(file.stem, f"annotation {annotation['name']}", annotation["expr"], annotation["titleFormat"])
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            yield Asked(file.stem, panel["title"], target["expr"], target["legendFormat"])


def selectors(expression: str) -> list[Selector]:
    """What an expression reads."""
    return [
        Selector(name, dict(_MATCHER.findall(braces)), window.strip("[]"))
        for name, braces, window in _SELECTOR.findall(_LABELS.sub("", expression))
    ]


def grouped(expression: str) -> set[str]:
    """Labels that an expression sums by, or joins on."""
    return {label.strip() for each in _LABELS.findall(expression) for label in each.split(",")} - {""}
