"""Every expression of the dashboards and rules, put to a real Prometheus that the whole chain has filled."""

import math
import re
from pathlib import Path
from typing import Any

from deployment.dashboards import FILES, Asked, asked, read
from deployment.rule_files import ALERTS, RECORDING, rules
from deployment.watched_chain import CULPRIT, Watched, watched_chain

# As Grafana does with a range of 5 minutes and a store that scrapes every second.
_GIVEN = {"$__rate_interval": "15s", "$__range": "5m"}
# Grafana escapes a chosen value for the regular expression, and that for the string.
_SPECIAL, _ESCAPED = re.compile(r"([\\^$*+?.()|\[\]{}])"), r"\\\\\1"
_VARIABLE = re.compile(r"\$(\w+)")


def substituted(expression: str, variables: dict[str, str]) -> str:
    for name, value in _GIVEN.items():
        expression = expression.replace(name, value)
    return _VARIABLE.sub(lambda found: variables[found[1]], expression)


def everything(file: Path) -> dict[str, str]:
    """What each variable stands for where All is chosen."""
    return {each["name"]: each["allValue"] for each in read(file)["templating"]["list"] if each["type"] == "query"}


def everything_by_name(file: Path, watched: Watched) -> dict[str, str]:
    """What each variable stands for where somebody has ticked every value that Grafana offers."""
    chosen: dict[str, str] = {}
    for variable in read(file)["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
            offered = watched.get(f"label/{label}/values", **{"match[]": substituted(selector, chosen)})
            chosen[variable["name"]] = f"({'|'.join(_SPECIAL.sub(_ESCAPED, each) for each in offered)})"
    return chosen


def numbers(series: list[dict[str, Any]]) -> list[float]:
    """Of a range query, those that are some."""
    return [value for each in series for _, text in each["values"] if math.isfinite(value := float(text))]


def fault(watched: Watched, one: Asked, variables: dict[str, str]) -> str:
    """What is wrong with the answer, if anything."""
    query = substituted(one.expression, variables)
    found = watched.since_start(query)
    if not numbers(found):
        return f"no data for {query}"
    wanted = set(re.findall(r"\{\{(\w+)\}\}", one.legend)) - {"comm_name"}
    without = [each["metric"] for each in found if not wanted <= each["metric"].keys()]
    return f"the legend {one.legend} has no value in {without[0]}" if without else ""


def test_every_expression_is_answered_and_shows_the_culprit(tmp_path: Path) -> None:
    with watched_chain(tmp_path) as watched:
        wrong = {
            (str(one), choice): said
            for file in FILES
            for choice, variables in (("all", everything(file)), ("each", everything_by_name(file, watched)))
            for one in asked(file)
            if (said := fault(watched, one, variables))
        }
        assert wrong == {}

        evaluated = [rule for group in watched.get("rules")["groups"] for rule in group["rules"]]
        assert len(evaluated) == len([*rules(ALERTS), *rules(RECORDING)])
        assert {rule["name"]: rule["lastError"] for rule in evaluated if rule["health"] != "ok"} == {}
        empty = [rule["record"] for rule in rules(RECORDING) if not numbers(watched.since_start(rule["record"]))]
        assert empty == []

        (file,) = (each for each in FILES if each.stem == "nccl-ranks")
        (ranking,) = (each for each in asked(file) if each.place == "Ranks that others wait for")
        first = max(
            watched.now(substituted(ranking.expression, everything(file))), key=lambda each: float(each["value"][1])
        )
        assert first["metric"]["global_rank"] == CULPRIT
        assert float(first["value"][1]) > 0.0
