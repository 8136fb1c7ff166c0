"""The files by which Grafana finds data and dashboards."""

import json
import re
from typing import Any

import yaml
from deployment.dashboards import FILES, GRAFANA, panels, read
from deployment.rule_files import CONFIG, PROMETHEUS

from sentinel.config.alertmanager import TEMPLATE_FIELDS

GUIDE = (CONFIG.parent / "docs" / "grafana.md").read_text(encoding="utf-8")


def provisioned(what: str) -> dict[str, Any]:
    (file,) = (GRAFANA / "provisioning" / what).iterdir()
    document: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert document["apiVersion"] == 1
    return document


def test_dashboards_come_from_files_that_stay_as_they_are() -> None:
    (provider,) = provisioned("dashboards")["providers"]
    assert (provider["type"], provider["allowUiUpdates"]) == ("file", False)
    assert provider["options"]["path"] in GUIDE


def test_data_sources_are_reached_as_everything_else_is() -> None:
    sources = {each["type"]: each for each in provisioned("datasources")["datasources"]}
    assert sources.keys() == {"prometheus", "alertmanager"}
    for source in sources.values():
        assert source["access"] == "proxy"
        assert source["url"].startswith("https://")
        assert "uid" not in source, "the dashboards know none"
        assert all(value.startswith("$NCCL_GRAFANA_") for value in source["secureJsonData"].values())
    scraped = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8"))["global"]["scrape_interval"]
    assert sources["prometheus"]["jsonData"]["timeInterval"] == scraped
    assert sources["alertmanager"]["jsonData"]["implementation"] == "prometheus"


def test_the_panel_of_alerts_asks_the_data_source_that_is_provisioned() -> None:
    named = [
        panel["options"]["alertmanager"]
        for file in FILES
        for panel in panels(read(file))
        if panel["type"] == "alertGroups"
    ]
    sources = {each["name"] for each in provisioned("datasources")["datasources"] if each["type"] == "alertmanager"}
    assert set(named) == sources


def test_the_guide_names_every_dashboard_and_what_alerts_may_link_to() -> None:
    for file in FILES:
        assert f"{read(file)['title']}**" in GUIDE
    (url,) = re.findall(r'^dashboard_url = (".*")$', GUIDE, re.MULTILINE)
    address = json.loads(url)
    assert set(re.findall(r"\{(\w+)\}", address)) <= set(TEMPLATE_FIELDS)
    uid = re.search(r"/d/([\w-]+)", address)
    assert uid
    variables = {each["name"] for file in FILES if file.stem == uid[1] for each in read(file)["templating"]["list"]}
    assert set(re.findall(r"var-(\w+)=", address)) <= variables
