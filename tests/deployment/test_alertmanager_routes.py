"""Who is told what by the shipped Alertmanager configuration, as amtool reads it."""

import pytest
from deployment.rule_files import ALERTS, CONFIG, rules
from deployment.tool import run, tool

from sentinel.sink.alert import ALERT_NAMES

FILE = CONFIG / "alertmanager" / "alertmanager.yml"
BY_TIER = {"P0": "page", "P1": "ticket", "P2": "digest"}
BY_SEVERITY = {"critical": "page", "warning": "ticket", "info": "digest"}


def receivers(**labels: str) -> str:
    arguments = [f"{name}={value}" for name, value in labels.items()]
    done = run(tool("amtool"), "config", "routes", "test", f"--config.file={FILE}", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_amtool_takes_it() -> None:
    done = run(tool("amtool"), "check-config", FILE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ALERT_NAMES.values())
@pytest.mark.parametrize("tier", BY_TIER)
def test_incidents_go_by_their_tier(name: str, tier: str) -> None:
    assert receivers(alertname=name, tier=tier, severity="critical", job_id="4711", node="gpu-1") == BY_TIER[tier]


@pytest.mark.parametrize("rule", list(rules(ALERTS)), ids=lambda rule: str(rule["alert"]))
def test_alerts_about_ourselves_go_by_their_severity(rule: dict[str, dict[str, str]]) -> None:
    severity = rule["labels"]["severity"]
    assert receivers(alertname=str(rule["alert"]), severity=severity, instance="a:1") == BY_SEVERITY[severity]


def test_the_heartbeat_goes_back_and_nowhere_else() -> None:
    assert receivers(alertname="NcclSentinelHeartbeat", severity="info", cluster="a") == "heartbeat"


def test_other_alerts_are_context_and_go_where_they_went() -> None:
    assert receivers(alertname="GpuXidError", severity="critical", tier="P0", node="gpu-1") == "context,others"


def test_an_alert_of_ours_that_no_route_knows_is_not_lost() -> None:
    assert receivers(alertname="NcclSomethingNew") == "others"
