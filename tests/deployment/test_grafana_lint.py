"""What makes a dashboard fit for any Grafana: the rules that its dashboard linter has, and those of the grid."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deployment.dashboards import FILES, Asked, asked, panels, read, selectors

# As Grafana calls them; of all that it knows those that fit what is shown here.
UNITS = {"none", "short", "percentunit", "s", "µs", "bytes", "Bps", "ops", "cps", "reqps"}
PLOTS = {"timeseries", "heatmap", "status-history", "state-timeline"}
KINDS = PLOTS | {"stat", "table", "text", "alertGroups"}
ASKED = [each for file in FILES for each in asked(file)]
PANELS = [(file, panel) for file in FILES for panel in panels(read(file))]

each_dashboard = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
each_panel = pytest.mark.parametrize("panel", [panel for _, panel in PANELS], ids=lambda panel: panel["title"])
each_expression = pytest.mark.parametrize("one", ASKED, ids=str)


def values_of(key: str, document: Any) -> Iterator[Any]:
    """Of every object in a document that has the key."""
    if isinstance(document, dict):
        if key in document:
            yield document[key]
        for value in document.values():
            yield from values_of(key, value)
    elif isinstance(document, list):
        for value in document:
            yield from values_of(key, value)


def test_all_five_are_there() -> None:
    assert {file.stem for file in FILES} == {
        "nccl-bandwidth",
        "nccl-cluster",
        "nccl-health",
        "nccl-incidents",
        "nccl-ranks",
    }


@each_dashboard
def test_it_is_found_and_refreshed(file: Path) -> None:
    dashboard = read(file)
    assert dashboard["uid"] == file.stem
    assert len(dashboard["uid"]) <= 40
    assert "id" not in dashboard, "a number of one Grafana's own"
    assert dashboard["title"].startswith("NCCL / ")
    assert dashboard["description"].endswith(".")
    assert dashboard["tags"] == ["nccl-sentinel"]
    assert dashboard["editable"] is False
    assert re.fullmatch(r"\d+[smh]", dashboard["refresh"])
    assert re.fullmatch(r"now-\d+[hd]", dashboard["time"]["from"])
    assert dashboard["time"]["to"] == "now"
    (link,) = dashboard["links"]
    assert (link["type"], link["tags"], link["keepTime"], link["includeVars"]) == (
        "dashboards",
        dashboard["tags"],
        True,
        True,
    )


@each_dashboard
def test_one_data_source_is_chosen_for_all(file: Path) -> None:
    dashboard = read(file)
    (source,) = (each for each in dashboard["templating"]["list"] if each["type"] == "datasource")
    assert (source["name"], source["label"], source["query"]) == ("datasource", "Data source", "prometheus")
    assert dashboard["templating"]["list"][0] is source
    named = list(values_of("datasource", dashboard))
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in named)
    assert set(values_of("uid", dashboard)) == {"${datasource}", dashboard["uid"]}
    for panel in panels(dashboard):
        assert bool(panel.get("targets")) == ("datasource" in panel)
        assert all("datasource" in target for target in panel.get("targets", []))


@each_dashboard
def test_variables_hold_one_many_or_all_and_follow_the_time(file: Path) -> None:
    variables = {each["name"]: each for each in read(file)["templating"]["list"] if each["type"] == "query"}
    assert (
        list(variables)
        == {
            "nccl-cluster": ["job_id"],
            "nccl-ranks": ["job_id", "comm", "op"],
            "nccl-bandwidth": ["job_id", "comm"],
            "nccl-incidents": ["job_id"],
            "nccl-health": ["job", "instance"],
        }[file.stem]
    )
    for variable in variables.values():
        assert variable["multi"]
        assert variable["includeAll"]
        # A job may have no id; every target has a job and an instance.
        assert variable["allValue"] == (".*" if variable["name"] in {"job_id", "comm"} else ".+")
        assert variable["refresh"] == 2
        assert variable["label"]
    text = file.read_text(encoding="utf-8")
    for name in variables:
        assert f'=~\\"${name}\\"' in text, f"{name} is not used"


@each_panel
def test_a_panel_says_what_it_shows(panel: dict[str, Any]) -> None:
    assert panel["type"] in KINDS
    assert panel["title"]
    assert panel["description"].endswith(".")
    if panel["type"] in {"text", "alertGroups"}:
        return
    assert panel["targets"]
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    for override in panel["fieldConfig"]["overrides"]:
        for prop in override["properties"]:
            assert prop["id"] != "unit" or prop["value"] in UNITS


@each_panel
def test_series_have_names(panel: dict[str, Any]) -> None:
    targets = panel.get("targets", [])
    references = [target["refId"] for target in targets]
    assert len(references) == len(set(references))
    for target in targets:
        if panel["type"] == "table":
            assert (target["format"], target["instant"]) == ("table", True)
        else:
            assert target["legendFormat"] != "__auto"
    legends = [target["legendFormat"] for target in targets if target["legendFormat"] != "__auto"]
    assert len(legends) == len(set(legends)), "two lines of one name"


@each_dashboard
def test_panels_lie_on_the_grid_side_by_side(file: Path) -> None:
    dashboard = read(file)
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(numbers) == len(set(numbers))
    taken: dict[tuple[int, int], str] = {}
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["w"] > 0
        assert place["h"] > 0
        assert 0 <= place["x"] <= 24 - place["w"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, f"{panel['title']} lies on {taken[x, y]}"
                taken[x, y] = panel["title"]
    assert dashboard["panels"][0]["type"] == "row"


@each_expression
def test_rates_follow_the_scrape_interval(one: Asked) -> None:
    for function, window in re.findall(r"(\w+)\([^()]*?\[([^\]]*)\]", one.expression):
        assert window == ("$__range" if function.endswith("_over_time") else "$__rate_interval")
    for selector in selectors(one.expression):
        counts = selector.name.endswith(("_total", "_bucket")) and ":" not in selector.name
        assert counts == (selector.window == "$__rate_interval"), selector


@each_expression
def test_quantiles_of_a_histogram_keep_its_buckets(one: Asked) -> None:
    if "histogram_quantile" in one.expression:
        assert re.search(r"histogram_quantile\(0\.\d+, sum by \((\w+, )*le\)", one.expression)


@each_expression
def test_what_is_chosen_above_is_what_is_shown(one: Asked) -> None:
    for selector in selectors(one.expression):
        matchers, name = selector.matchers, selector.name
        if one.place == "annotation Incidents" or name == "ALERTS":
            continue  # of incidents and alerts that have no such label
        if one.dashboard == "nccl-health":
            assert matchers.items() >= {("job", "$job"), ("instance", "$instance")}, selector
        elif name.startswith("job_id"):
            assert matchers["job_id"] == "$job_id"
        elif name == "nccl_communicator_info":
            assert matchers.items() >= {("job_id", "$job_id"), ("comm", "$comm")}
        elif name.startswith("nccl_sentinel_"):
            assert not matchers, "the daemon sees all jobs"
        else:
            assert matchers["comm"] == "$comm"
            assert "nccl_communicator_info" in one.expression, (
                "a series by communicator does not say which job it is of"
            )
