"""Every metric and label that a dashboard asks for exists, and every metric that exists is on a dashboard."""

import re
from pathlib import Path

import pytest
from deployment.dashboards import FILES, Asked, asked, grouped, panels, read, selectors
from deployment.published import published
from deployment.rule_files import RECORDING, rules
from nccl_exporter import catalogue as exporter

from sentinel.measure.lateness import SYNCHRONIZING
from sentinel.web import catalogue as daemon

RECORDED = {rule["record"]: rule["expr"] for rule in rules(RECORDING)}
# Prometheus' own, and those of every process that the client library tells of.
OTHERS = {
    "up": set[str](),
    "ALERTS": {"alertname", "alertstate"},
    "process_cpu_seconds_total": set[str](),
    "process_resident_memory_bytes": set[str](),
}
TARGET = {"job", "instance"}
ASKED = [each for file in FILES for each in asked(file)]


def labels_of(name: str) -> set[str]:
    """Of a series that exists."""
    if name in OTHERS:
        return OTHERS[name] | TARGET
    if name in RECORDED:
        return set(re.findall(r"job_id|comm|rank|op|le|peer|direction|state", name.split(":")[0]))
    labels = published(name)
    assert labels is not None, name
    return labels | TARGET


@pytest.mark.parametrize("one", ASKED, ids=str)
def test_metrics_and_labels_exist(one: Asked) -> None:
    read_by = selectors(one.expression)
    assert read_by
    known = set[str]()
    for selector in read_by:
        known |= labels_of(selector.name)
        assert set(selector.matchers) <= labels_of(selector.name), selector
    assert grouped(one.expression) <= known
    assert set(re.findall(r"\{\{(\w+)\}\}", one.legend)) <= known


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_variables_ask_for_what_exists(file: Path) -> None:
    for variable in read(file)["templating"]["list"]:
        if variable["type"] != "query":
            continue
        selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
        names = re.findall(r"nccl_\w+", selector)
        assert names
        for name in names:
            assert label in labels_of(name)
        assert variable["query"]["query"] == variable["definition"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_panel_of_one_metric_says_what_that_metric_says(file: Path) -> None:
    helps = {family.name: family.help for family in (*exporter.CATALOGUE, *daemon.CATALOGUE)}
    for panel in panels(read(file)):
        names = {each.name for target in panel.get("targets", []) for each in selectors(target["expr"])}
        if len(names) > 1:
            names -= {"nccl_communicator_info"}  # says whose series they are
        if len(names) == 1 and (text := helps.get(names.pop().removesuffix("_bucket"))):
            assert text in panel["description"], panel["title"]


def test_every_metric_is_on_a_dashboard() -> None:
    shown = {selector.name for one in ASKED for selector in selectors(one.expression)}
    while more := {
        name
        for record in shown & RECORDED.keys()
        for name in re.findall(r"[\w:]+", expanded(RECORDED[record]))
        if name not in shown
    }:
        shown |= more
    names = {
        f"{family.name}_bucket" if family.kind == "histogram" else family.name
        for family in (*exporter.CATALOGUE, *daemon.CATALOGUE)
    }
    assert names - shown == set()


def expanded(expression: str) -> str:
    """With each name that a pattern like nccl_(a|b)_c stands for."""
    for stem, alternatives, rest in re.findall(r'__name__=~"(\w*)\(([\w|]+)\)(\w*)"', expression):
        expression += "".join(f" {stem}{each}{rest}" for each in alternatives.split("|"))
    return expression


def test_every_recorded_series_of_lateness_leaves_out_what_does_not_synchronize() -> None:
    late = [expression for name, expression in RECORDED.items() if re.match("comm_.*lateness", name)]
    assert late
    for expression in late:
        named = re.findall(r'op=~"([^"]*)"', expression)
        assert named
        assert {op for each in named for op in each.split("|")} == SYNCHRONIZING
