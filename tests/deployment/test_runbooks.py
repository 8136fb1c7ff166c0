"""Each alert has a runbook, each runbook an alert, and what a runbook refers to is there."""

import re
from pathlib import Path

import pytest
from deployment.published import published
from deployment.rule_files import ALERTS, rules

from sentinel.sink.alert import ALERT_NAMES

RUNBOOKS = Path(__file__).resolve().parents[2] / "docs" / "runbooks"
INDEX = RUNBOOKS / "README.md"
SEVERITIES = {rule["alert"]: rule["labels"]["severity"] for rule in rules(ALERTS)}
NAMES = {*ALERT_NAMES.values(), "NcclSentinelHeartbeat", *SEVERITIES}
FILES = sorted(RUNBOOKS.glob("*.md"))
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
COMMANDS = (RUNBOOKS.parent / "commands.md").read_text(encoding="utf-8")
PARTS = ["What it means", "How to confirm", "What to do", "What it is not"]


def test_each_alert_has_a_runbook_and_each_runbook_an_alert() -> None:
    assert {file.stem for file in FILES} - {"README"} == NAMES


def test_the_index_has_each_once_with_its_severity() -> None:
    rows = dict(re.findall(r"^\| \[\w+\]\((\w+)\.md\) \| (.*) \|$", INDEX.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows.keys() == NAMES
    assert {name: said for name, said in rows.items() if name in SEVERITIES} == SEVERITIES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_runbook_has_its_parts_and_is_short(name: str) -> None:
    lines = (RUNBOOKS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {name}"
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == PARTS
    assert len(lines) < 50


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_links_lead_somewhere(file: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", file.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        linked = (file.parent / path).resolve()
        assert linked.is_file(), target
        headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {slug(heading) for heading in headings}, target


def test_commands_of_sentinel_exist_with_their_options() -> None:
    # docs/commands.md is what the commands themselves say: tests/cli holds that.
    commands = dict(re.findall(r"^## sentinel (.+?)\n(.*?)(?=^## |\Z)", COMMANDS, re.MULTILINE | re.DOTALL))
    asked = set(re.findall(r"(?:^    |`|nccl-sentinel )sentinel ((?:baseline )?[a-z-]+)([^`#\n]*)", TEXT, re.MULTILINE))
    assert {command for command, _ in asked} >= {"explain", "status", "backtest", "check-config", "baseline build"}
    for command, rest in asked:
        for option in re.findall(r"--\w+", rest):
            assert option in commands[command], (command, option)
        assert command in commands


def test_metrics_exist() -> None:
    names = set(re.findall(r"\bnccl_[a-z0-9_]*[a-z0-9]\b", TEXT)) - {"nccl_version"}  # a label
    assert len(names) >= 10
    assert {name for name in names if published(name) is None} == set()
