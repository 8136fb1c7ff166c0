"""docs/upgrading.md says which versions there are, and what is done with others."""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from deployment.published import published
from deployment.rule_files import CONFIG
from nccl_exporter import layout

from sentinel.baseline.baseline import Baseline
from sentinel.history import archive
from sentinel.state import schema
from sentinel.state.database import FILE_NAME
from sentinel.state.store import State

GUIDE = (CONFIG.parent / "docs" / "upgrading.md").read_text(encoding="utf-8")
MAPPED_FILE = (CONFIG.parent / "docs" / "mapped-file.md").read_text(encoding="utf-8")


def said(what: str) -> int:
    (number,) = re.findall(rf"^\| [^|]*{what}[^|]* \| (\d+) \|", GUIDE, re.MULTILINE)
    return int(number)


def baseline_format() -> int:
    with pytest.raises(ValueError, match="format -1 is not") as caught:
        Baseline.from_bytes(orjson.dumps({"format": -1}))
    return int(str(caught.value).rpartition(" ")[2])


def test_versions_are_those_of_the_code() -> None:
    assert said("mapped file") == layout.VERSION
    assert f"version {layout.VERSION}," in MAPPED_FILE
    assert said("sentinel.db") == schema.VERSION
    assert said("stored baseline") == baseline_format()
    assert said("history.db") == archive.VERSION


def test_metrics_that_it_names_exist_with_their_labels() -> None:
    assert {"version", "layout"} <= (published("nccl_exporter_build_info") or set())
    for name in re.findall(r"\bnccl_\w+", GUIDE):
        assert published(name) is not None, name


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_every_older_state_is_taken(version: int, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        for statements in schema.MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.execute("INSERT INTO ticks VALUES (1000.0, 'ok', 0.1, 0, '')")
        connection.execute("INSERT INTO baselines VALUES (7, 900.0, 0.0, 900.0, x'00')")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with State.open(tmp_path) as state:
        tick = state.last_tick()
        assert tick is not None
        assert tick.time == 1000.0
        assert [each.version for each in state.baseline_versions()] == [7]


def test_a_newer_state_keeps_the_daemon_from_starting(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    config = tmp_path / "sentinel.toml"
    config.write_text(f'[alertmanager]\nurls = []\n[state]\ndirectory = "{tmp_path}"\n')
    done = subprocess.run(
        [sys.executable, "-m", "sentinel", "run", "--once", "--config", config],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "the state is newer than this program" in done.stderr
