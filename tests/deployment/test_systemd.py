"""The shipped units, users and directories, as systemd's own tools read them."""

import configparser
import os
import sys
from pathlib import Path

import pytest
from deployment.rule_files import CONFIG
from deployment.tool import run, tool

from sentinel.config.state import DEFAULT_DIRECTORY

UNITS = CONFIG / "systemd"
PROGRAMS = {"nccl-exporter.service": "nccl-exporter", "nccl-sentinel.service": "sentinel"}
DIRECTORY = "/run/nccl-sentinel"  # of the jobs


class Unit(configparser.RawConfigParser):
    """A unit file; a key that stands there several times keeps its last value."""

    def __init__(self, name: str) -> None:
        super().__init__(strict=False, interpolation=None)
        self.read(UNITS / name, encoding="utf-8")

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def installed(name: str, directory: Path) -> Path:
    """The unit with a program that exists here."""
    unit = directory / name
    text = (UNITS / name).read_text(encoding="utf-8")
    program = f"/opt/nccl-sentinel/bin/{PROGRAMS[name]}"
    assert program in text
    unit.write_text(text.replace(program, sys.executable))
    return unit


def test_every_unit_is_tested() -> None:
    assert {unit.name for unit in UNITS.iterdir()} == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_systemd_takes_the_unit(name: str, tmp_path: Path) -> None:
    done = run(tool("systemd-analyze"), "verify", installed(name, tmp_path))
    # Newer versions say so when all is well.
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_exposure_is_at_most_2(name: str, tmp_path: Path) -> None:
    unit = installed(name, tmp_path)
    done = run(tool("systemd-analyze"), "security", "--offline=yes", "--threshold=20", unit)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_daemon_is_given_what_it_expects() -> None:
    service = Unit("nccl-sentinel.service")["Service"]
    assert Path("/var/lib") / service["StateDirectory"] == DEFAULT_DIRECTORY
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    # Where the service manager's socket cannot be reached, a unit of this type never starts.
    assert "AF_UNIX" in service["RestrictAddressFamilies"].split()


def test_the_daemons_user(tmp_path: Path) -> None:
    program = tool("systemd-sysusers")
    if os.geteuid() != 0:
        pytest.skip("systemd-sysusers writes as root only")
    (tmp_path / "etc").mkdir()
    done = run(program, f"--root={tmp_path}", CONFIG / "sysusers" / "nccl-sentinel.conf")
    assert done.returncode == 0, done.stderr
    (line,) = (tmp_path / "etc" / "passwd").read_text().splitlines()
    name, _, number, _, _, home, shell = line.split(":")
    service = Unit("nccl-sentinel.service")["Service"]
    assert name == service["User"] == service["Group"]
    assert 0 < int(number) < 1000
    assert home == str(DEFAULT_DIRECTORY)
    assert Path(shell).name == "nologin"


def test_directory_of_the_jobs(tmp_path: Path) -> None:
    program = tool("systemd-tmpfiles")
    (tmp_path / "run").mkdir()
    entry = CONFIG / "tmpfiles" / "nccl-sentinel.conf"
    # Everything but the owner: only root may give that.
    entry_of_mine = tmp_path / entry.name
    entry_of_mine.write_text(entry.read_text(encoding="utf-8").replace(" root root ", " - - "))
    done = run(program, f"--root={tmp_path}", "--create", entry_of_mine)
    assert done.returncode == 0, done.stderr
    made = tmp_path / DIRECTORY.lstrip("/")
    assert made.stat().st_mode & 0o7777 == 0o1777
