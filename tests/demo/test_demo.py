"""The whole chain for real: `sentinel demo` as a person runs it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers.process import DEADLINE_SECONDS, wait_until

SENTINEL = Path(sys.executable).parent / "sentinel"


@pytest.fixture
def folder(tmp_path):
    """Where the demo makes its temporary folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def environment(folder, path=None):
    return os.environ | {"TMPDIR": str(folder)} | ({"PATH": f"{path}:{os.environ['PATH']}"} if path else {})


def run(folder, *arguments, path=None):
    return subprocess.run(
        [SENTINEL, "demo", *arguments],
        env=environment(folder, path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def processes_of(folder) -> list[str]:
    """Command lines that name the folder, which every process of a demo does."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if str(folder) in command:
            found.append(command)
    return found


def assert_nothing_left(folder):
    assert list(folder.iterdir()) == []
    assert processes_of(folder) == []


@pytest.mark.parametrize(
    ("scenario", "alertname", "rank"),
    [("late1ms", "NcclRankLate", "3"), ("stall2", "NcclCommunicatorStalled", "2")],
)
def test_names_the_culprit_and_nobody_else(scenario, alertname, rank, folder):
    result = run(folder, "--scenario", scenario, "--json")

    assert result.returncode == 0, result.stderr
    alerts = json.loads(result.stdout)
    assert {(each["labels"]["alertname"], each["labels"]["rank"]) for each in alerts} == {(alertname, rank)}
    assert [alerts[0]["status"], alerts[-1]["status"]] == ["firing", "resolved"]
    assert {each["startsAt"] for each in alerts} == {alerts[0]["startsAt"]}
    assert "as it should be" in result.stderr
    assert_nothing_left(folder)


def start(folder):
    """A demo whose chain is up."""
    demo = subprocess.Popen(
        [SENTINEL, "demo", "--keep"],
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stderr
    for line in demo.stderr:
        if "Learning" in line:
            return demo
    raise AssertionError(f"the demo ended early with {demo.wait()}")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_cleans_up_when_it_is_told_to_end(number, status, folder):
    with start(folder) as demo:
        assert len(processes_of(folder)) >= 11  # 8 players, exporter, Prometheus, Alertmanager
        demo.send_signal(number)
        assert demo.wait(DEADLINE_SECONDS) == status
    assert_nothing_left(folder)


def test_its_processes_die_with_it(folder):
    with start(folder) as demo:
        demo.kill()
    wait_until(lambda: processes_of(folder) == [], "its processes end")


def test_a_server_that_fails_is_reported_with_its_log(folder, tmp_path):
    broken = tmp_path / "prometheus"
    broken.write_text("#!/bin/sh\necho no space left on device >&2\nexit 7\n")
    broken.chmod(0o755)

    result = run(folder, path=tmp_path)

    assert result.returncode == 2
    assert "prometheus ended before the demo did, with exit status 7" in result.stderr
    assert "no space left on device" in result.stderr
    assert_nothing_left(folder)
