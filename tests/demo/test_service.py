import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers.process import wait_until

from sentinel.demo.service import Service, last_lines
from sentinel.errors import SentinelError

FOREVER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
DEAF = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\nwhile True: signal.pause()",
]
# A parent that starts one service, says its pid and waits to be killed.
PARENT = """
import signal, sys
from pathlib import Path
from sentinel.demo.service import Service
print(Service("child", [sys.executable, "-c", "import signal; signal.pause()"], log=Path(sys.argv[1])).pid, flush=True)
signal.pause()
"""


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_runs_until_it_is_stopped(tmp_path):
    service = Service("server", FOREVER, log=tmp_path / "log")
    wait_until(lambda: "up" in last_lines(tmp_path / "log"), "it is up")
    service.check()
    service.stop()
    assert not runs(service.pid)
    service.stop()


def test_kills_what_does_not_listen(tmp_path, monkeypatch):
    monkeypatch.setattr("sentinel.demo.service._GRACE_SECONDS", 0.1)
    service = Service("server", DEAF, log=tmp_path / "log")
    wait_until(lambda: "up" in last_lines(tmp_path / "log"), "it is up")
    service.stop()
    assert not runs(service.pid)


def test_an_early_end_is_reported_with_the_end_of_the_log(tmp_path):
    service = Service("server", ["/bin/sh", "-c", "echo one; echo port is taken >&2; exit 3"], log=tmp_path / "log")

    with pytest.raises(SentinelError) as caught:
        wait_until(service.check, "the end is noticed")

    assert "server ended before the demo did, with exit status 3" in caught.value.what
    assert str(tmp_path / "log") == caught.value.where
    assert "port is taken" in caught.value.why


def test_dies_with_its_parent_however_that_dies(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert runs(child)
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not runs(child), "the child ends")


def test_last_lines_of_a_log(tmp_path):
    log = tmp_path / "log"
    assert last_lines(log) == "    (nothing)"
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(20)) + b"\xff\n")
    assert last_lines(log, 2) == "    line 19\n    �"


def test_a_missing_program_is_not_swallowed(tmp_path):
    service = Service("server", [tmp_path / "missing"], log=tmp_path / "log")
    with pytest.raises(SentinelError, match="FileNotFoundError"):
        wait_until(service.check, "the end is noticed")
