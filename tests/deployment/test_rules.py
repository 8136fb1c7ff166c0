"""The shipped rules: promtool takes them, each alert is tested to fire and not to, and each metric exists."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployment.published import published
from deployment.rule_files import ALERTS, PROMETHEUS, RECORDING, UNIT_TESTS, rules, unit_tests
from deployment.tool import run, tool

RECORDED = {rule["record"] for rule in rules(RECORDING)}
WATCHED = list(rules(ALERTS))
FILES = sorted(UNIT_TESTS.glob("*.test.yml"))


def alert_id(rule: dict[str, Any]) -> str:
    return str(rule["alert"])


@pytest.mark.parametrize("file", [ALERTS, RECORDING], ids=lambda file: file.name)
def test_promtool_takes_the_rules(file: Path) -> None:
    done = run(tool("promtool"), "check", "rules", "--lint=all", "--lint-fatal", file)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_promtool_tests_the_rules(file: Path) -> None:
    done = run(tool("promtool"), "test", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rule", WATCHED, ids=alert_id)
def test_each_alert_is_tested_to_fire_and_not_to(rule: dict[str, Any]) -> None:
    tests = [
        each for test in unit_tests() for each in test.get("alert_rule_test", []) if each["alertname"] == rule["alert"]
    ]
    assert any(each.get("exp_alerts") for each in tests)
    assert any(not each.get("exp_alerts") for each in tests)


@pytest.mark.parametrize("rule", WATCHED, ids=alert_id)
def test_each_alert_says_what_it_is(rule: dict[str, Any]) -> None:
    assert rule["labels"].keys() == {"severity"}  # a tier would take part in the inhibition of incidents
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"https://runbooks.example/nccl-sentinel/{rule['alert']}.md"
    assert len(rule["annotations"]["summary"]) < 100


def test_names_of_alerts_are_unique_and_routed() -> None:
    names = [rule["alert"] for rule in WATCHED]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"Nccl(Sentinel|Exporter|Plugin)[A-Z]\w+", name) for name in names)


def test_every_record_is_asked_for_by_a_test_or_by_a_record_that_is() -> None:
    asked = " ".join(each["expr"] for test in unit_tests() for each in test.get("promql_expr_test", []))
    expressions = {rule["record"]: rule["expr"] for rule in rules(RECORDING)}
    known = {name for name in RECORDED if name in asked}
    while more := {name for name in RECORDED - known if any(name in expressions[each] for each in known)}:
        known |= more
    assert known == RECORDED


def test_names_of_records_follow_the_convention() -> None:
    for name in RECORDED:
        level, metric, operations = name.split(":")
        assert level
        assert operations
        (rule,) = (each for each in rules(RECORDING) if each["record"] == name)
        assert metric.endswith("_total") is (operations == "sum"), "rate() takes _total off, sum() does not"
        # The level is what the sum keeps.
        labels = set(re.findall(r"job_id|comm|rank|op|le|peer|direction|state|counter", level))
        kept = re.findall(r"(?:sum|max|min|avg|count|quantile) by \(([^)]*)\)", rule["expr"])
        if kept:
            assert labels == {label.strip() for label in kept[0].split(",")}


@pytest.mark.parametrize("rule", [*WATCHED, *rules(RECORDING)], ids=lambda rule: rule.get("alert") or rule["record"])
def test_every_metric_exists_with_its_labels(rule: dict[str, Any]) -> None:
    expression = rule["expr"]
    names = re.findall(r"(?<![\w:\"=~])(?:up|nccl_\w+|[a-z_]+:\w+:\w+)(?![\w:])", expression)
    patterns = re.findall(r'__name__=~"([^"]*)"', expression)
    assert names or patterns
    for name in names:
        assert name == "up" or name in RECORDED or published(name) is not None, name
    for pattern in patterns:
        # Each alternative is a metric of its own.
        stem, alternatives, rest = re.fullmatch(r"(\w*)\(([\w|]+)\)(\w*)", pattern).groups()  # type: ignore[union-attr]
        for alternative in alternatives.split("|"):
            assert published(f"{stem}{alternative}{rest}") is not None, pattern
    for name, selector in re.findall(r"(nccl_\w+)\{([^}]*)\}", expression):
        asked = set(re.findall(r"(\w+)(?:=|!=|=~|!~)\"", selector))
        assert asked <= (published(name) or set()) | {"job", "instance"}, name


def test_series_of_the_unit_tests_exist_with_their_labels() -> None:
    for test in unit_tests():
        for each in test["input_series"]:
            name, labels = each["series"].rstrip("}").split("{")
            if name != "up":
                asked = set(re.findall(r'(\w+)="', labels)) - {"job", "instance"}
                assert asked <= (published(name) or {f"no metric {name}"}), each["series"]


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """prometheus.yml where Prometheus would find it, with the files that it names."""
    for file in PROMETHEUS.iterdir():
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"))
    text = (tmp_path / "prometheus.yml").read_text()
    for path in re.findall(r"(?:ca|password)_file: ([^},\s]+)", text):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("not read by promtool\n")
    return tmp_path / "prometheus.yml"


def test_promtool_takes_the_configuration(configuration: Path) -> None:
    done = run(tool("promtool"), "check", "config", configuration)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(RECORDED)} rules found" in done.stdout
    assert f"{len(WATCHED)} rules found" in done.stdout


def test_what_is_scraped_is_what_is_watched(configuration: Path) -> None:
    scraped = {each["job_name"] for each in yaml.safe_load(configuration.read_text())["scrape_configs"]}
    watched = {job for rule in WATCHED for job in re.findall(r'job="([^"]+)"', rule["expr"])}
    assert scraped == watched
    for each in yaml.safe_load(configuration.read_text())["scrape_configs"]:
        assert each["scheme"] == "https"
        assert each["basic_auth"]["password_file"]
