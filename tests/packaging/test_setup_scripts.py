"""What the set-up scripts say when something is missing. That they work is shown by every checkout they have set up."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
TOOLS = ("bash", "cat", "dirname", "env", "mkdir", "rm", "sed", "sort", "tail")
SERVERS = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the scripts, and a `bin` with little more than a shell."""
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def add_program(checkout, name, text="exit 0"):
    program = checkout / "bin" / name
    program.write_text(f"#!{shutil.which('bash')}\n{text}\n")
    program.chmod(0o755)


def run(checkout, script):
    return subprocess.run(
        [checkout / "scripts" / script],
        env={"PATH": str(checkout / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_servers_on_the_path_are_used(checkout):
    for name in SERVERS:
        add_program(checkout, name)
    result = run(checkout, "setup-servers")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert list((checkout / ".tools" / "bin").iterdir()) == []


def test_without_apt_it_says_what_to_do(checkout):
    add_program(checkout, "prometheus")
    add_program(checkout, "promtool")
    result = run(checkout, "setup-servers")
    assert result.returncode == 2
    assert "this system has no apt-get" in result.stderr
    assert "systemctl mask" in result.stderr
    assert "apt-get install --no-install-recommends prometheus-alertmanager\n" in result.stderr


@pytest.mark.parametrize("name", ["chromium-headless-shell", "chromium", "google-chrome"])
def test_a_browser_on_the_path_is_used(checkout, name):
    add_program(checkout, name)
    result = run(checkout, "setup-browser")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not (checkout / ".tools" / "browser").exists()


def test_without_a_browser_everything_else_goes_on(checkout):
    result = run(checkout, "setup-browser")
    assert result.returncode == 0
    assert "this system has no apt-get" in result.stderr
    assert "The tests of the status page will fail." in result.stderr


def test_what_tests_need_is_used_where_it_is_on_the_path(checkout):
    for name in ("tmux", "victoria-metrics"):
        add_program(checkout, name)
    result = run(checkout, "setup-test-tools")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not (checkout / ".tools" / "test").exists()


def test_without_what_only_tests_need_everything_else_goes_on(checkout):
    add_program(checkout, "tmux")
    result = run(checkout, "setup-test-tools")
    assert result.returncode == 0
    assert "set-up: victoria-metrics missing" in result.stderr
    assert "this system has no apt-get" in result.stderr
    assert "The tests that need them will fail." in result.stderr


def test_without_python_it_names_the_packages(checkout):
    result = run(checkout, "setup-python")
    assert result.returncode == 2
    assert "python3 was not found. As root: apt-get install python3 python3-venv" in result.stderr


def test_an_old_python_is_refused(checkout):
    add_program(checkout, "python3", 'if [ "$1" = -V ]; then echo Python 3.9.2; else exit 1; fi')
    result = run(checkout, "setup-python")
    assert result.returncode == 2
    assert "Python 3.11 or newer is needed, python3 is Python 3.9.2." in result.stderr


def test_without_ensurepip_it_names_the_package(checkout):
    add_program(checkout, "python3", f'[[ "$*" == *ensurepip* ]] && exit 1; exec {sys.executable} "$@"')
    result = run(checkout, "setup-python")
    assert result.returncode == 2
    assert "apt-get install python3-venv" in result.stderr


def test_without_a_compiler_it_names_the_package(checkout):
    add_program(checkout, "python3", f'exec {sys.executable} "$@"')
    result = run(checkout, "setup-python")
    assert result.returncode == 2
    assert "apt-get install g++" in result.stderr
