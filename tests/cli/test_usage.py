"""Exit statuses, and what stands on which stream."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from servers.command import Run
from servers.process import free_port

from sentinel import __version__

COMMANDS = [
    ("run", "--once"),
    ("baseline", "build"),
    ("baseline", "show"),
    ("baseline", "diff"),
    ("backtest", "--from", "1h"),
    ("advise", "--from", "1h"),
    ("check-config",),
    ("explain", "abc"),
    ("status",),
    ("top", "--once"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_configuration_is_2_and_said_on_stderr(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    config = tmp_path / "sentinel.toml"
    config.write_text('[prometheus]\nulr = "http://a"\n')
    result = run(*command, "--config", config)
    assert result.status == 2
    assert result.out == ""
    assert "error: the configuration has 1 fault" in result.err
    assert f"{config}: prometheus.ulr: no such key. Did you mean prometheus.url" in result.err
    missing = run(*command, "--config", tmp_path / "none.toml")
    assert missing.status == 2
    assert "no configuration file" in missing.err


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--once"),
        ("baseline", "build"),
        ("backtest", "--from", "1h"),
        ("advise", "--from", "1h"),
        ("status",),
    ],
    ids=" ".join,
)
def test_a_server_that_cannot_be_reached_is_3(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    result = run(*command, "--set", f"prometheus.url={url}", "--set", f"state.directory={tmp_path}/state")
    assert result.status == 3
    assert f"error: cannot query Prometheus ({url}" in result.err
    assert "Connection refused" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("run", "--nonsense"),
        ("backtest",),
        ("backtest", "--from", "yesterday", "--to", "now"),
        ("backtest", "--from", "now", "--to", "1h"),
        ("explain",),
        ("status", "--set", "schedule.tick"),
        ("status", "--set", "schedule.tick=7"),
        ("status", "--set", "schedule=7", "--set", "schedule.tick=7s"),
        ("status", "--set", "shedule.tick=7s"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.status == 2
    assert result.out == ""
    assert result.err


def test_flags_go_over_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_SCHEDULE__TICK", "10s")
    monkeypatch.setenv("SENTINEL_PROMETHEUS__RETRIES", "7")
    result = run("check-config", "--json", "--set", "schedule.tick=20s", "--set", "alertmanager.urls=http://a,http://b")
    settings = json.loads(result.out)
    assert settings["schedule"]["tick"] == "20s"
    assert settings["prometheus"]["retries"] == 7
    assert settings["alertmanager"]["urls"] == ["http://a", "http://b"]


def test_the_shipped_configuration_is_fine(run: Run) -> None:
    path = Path(__file__).resolve().parents[2] / "config" / "sentinel.toml"
    result = run("check-config", "--config", path)
    assert (result.status, result.out, result.err) == (0, f"The configuration is fine ({path}).\n", "")


def test_a_configuration_without_a_file_is_said_to_have_none(run: Run) -> None:
    assert "there is no /etc/nccl-sentinel/sentinel.toml: defaults, environment and flags" in run("check-config").out


def test_a_secret_that_cannot_be_read_is_found_by_check_config(run: Run, tmp_path: Path) -> None:
    result = run("check-config", "--set", f"prometheus.bearer_token_file={tmp_path}/none")
    assert result.status == 2
    assert "prometheus.bearer_token_file" in result.err
    assert "No such file" in result.err


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"nccl-sentinel {__version__}\n"
    assert run("--help").status == 0
    for command in ("run", "baseline", "backtest", "check-config", "explain", "status", "top", "demo", "plugin-path"):
        assert command in run("--help").out


def test_as_a_module_in_a_process() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sentinel", "explain", "abc", "--set", "a=b"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the configuration has 1 fault")
