"""`sentinel top` in a real terminal."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from page.late_job import LATE_RANK, late_job
from page.scenes import Scene
from page.served import serving
from servers.incidents import INCIDENT
from servers.process import wait_until
from top.tmux import PROMPT, Terminal, terminal

CULPRIT = f"Rank {LATE_RANK} (on node1 GPU 1) arrives late"


def top(url: str, *options: str) -> str:
    return shlex.join([sys.executable, "-m", "sentinel", "top", "--url", url, "--interval", "500ms", *options])


def settings(terminal: Terminal, file: Path) -> str:
    """All of the terminal driver's."""
    terminal.run(f"stty -a > {file}; echo written-$?")
    terminal.wait_for("written-0")
    terminal.run("clear")
    wait_until(lambda: "written" not in terminal.text(), "the screen is clear")
    return file.read_text()


def is_restored(terminal: Terminal) -> bool:
    return terminal.cursor_is_visible() and not terminal.is_alternate()


def test_a_real_incident_until_the_daemon_stops(tmp_path: Path) -> None:
    with late_job(tmp_path) as (url, daemon), terminal() as shown:
        before = settings(shown, tmp_path / "before")
        shown.run(f"{top(url)}; echo status=$?")
        shown.wait_for(CULPRIT)
        shown.wait_for(f"{LATE_RANK} on node1 GPU 1")  # the worst rank of its communicator
        assert len(shown.lines()) == 24
        assert shown.is_alternate()

        shown.press("Enter")
        shown.wait_for("It costs ")
        shown.wait_for("verdict: late_rank, alert NcclRankLate")
        shown.press("Enter")
        shown.wait_for("Ranks: 8, by lateness now")
        lines = shown.lines()
        titles = next(number for number, line in enumerate(lines) if line.split()[:2] == ["RANK", "NODE"])
        assert lines[titles + 1].split()[:3] == [str(LATE_RANK), "node1", "1"]
        assert lines[titles + 1].endswith("P1 late_rank")
        shown.press("Escape")
        shown.wait_for("verdict: late_rank")
        shown.press("Escape")
        shown.wait_for("Jobs: 1")

        daemon.stop()
        shown.wait_for("The daemon does not answer: Connection refused.")
        shown.wait_for("What is shown is 2s old.")  # and it grows
        assert CULPRIT in shown.text()

        shown.press("q")
        shown.wait_for("status=0")
        assert is_restored(shown)
        assert PROMPT.strip() in shown.text()
        assert CULPRIT not in shown.text()
        assert settings(shown, tmp_path / "after") == before


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Scene(tmp_path_factory.mktemp("scene"), INCIDENT)) as address:
        yield address


def test_control_c_and_a_termination_leave_the_terminal_as_it_was(tmp_path: Path, url: str) -> None:
    with terminal() as shown:
        before = settings(shown, tmp_path / "before")
        shown.run(f"{top(url)}; echo status=$?")
        shown.wait_for("Jobs: 1")
        shown.press("C-c", "C-c", "C-c")
        shown.wait_for("status=130")
        assert is_restored(shown)
        assert "Traceback" not in shown.text()
        shown.run("clear")
        inner = shlex.quote(f"echo $$ > {tmp_path / 'pid'}; exec {top(url)}")
        shown.run(f"sh -c {inner}; echo status=$?")
        shown.wait_for("Jobs: 1")
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
        shown.wait_for("status=143")
        assert is_restored(shown)
        assert settings(shown, tmp_path / "after") == before


def test_stopped_and_gone_on_with(tmp_path: Path, url: str) -> None:
    with terminal() as shown:
        before = settings(shown, tmp_path / "before")
        shown.run(top(url))
        shown.wait_for("Jobs: 1")
        shown.press("Enter")
        shown.wait_for("verdict: late_rank")
        shown.press("C-z")
        shown.wait_for("Stopped")
        assert is_restored(shown)
        assert settings(shown, tmp_path / "stopped") == before
        shown.run("fg")
        shown.wait_for("verdict: late_rank")  # where one was
        shown.press("q")
        wait_until(lambda: not shown.is_alternate(), "it has quit")
        assert settings(shown, tmp_path / "after") == before


def test_a_new_size_is_followed(url: str) -> None:
    with terminal(160, 50, COLUMNS="160", LINES="50") as shown:  # as a shell exports them
        shown.run(top(url))
        shown.wait_for("VERDICT")
        assert len(shown.lines()) == 50
        assert shown.lines()[-1].startswith("j/k choose")
        shown.resize(60, 12)
        wait_until(lambda: shown.lines()[-1].startswith("j/k choose") and len(shown.lines()) == 12, "it fits again")
        assert "VERDICT" not in shown.text()
        assert max(map(len, shown.lines())) <= 60
        shown.press("q")
        wait_until(lambda: not shown.is_alternate(), "it has quit")


def test_keys(url: str) -> None:
    with terminal() as shown:
        shown.run(top(url))
        shown.wait_for("> P1")
        shown.press("Down", "j")
        shown.wait_for(">   dp")
        shown.press("k")
        shown.wait_for("> 4711")
        shown.press("End", "Enter")
        shown.wait_for("Ranks: 4, by lateness now")
        shown.press("s")
        shown.wait_for("by P95 of lateness")
        shown.press("?")
        shown.wait_for("Keys and columns")
        shown.press("Escape", "Escape")
        shown.wait_for(">   dp")
        shown.press("q")
        wait_until(lambda: not shown.is_alternate(), "it has quit")


def test_colours_and_none(url: str) -> None:
    for environment, has_colour in (({}, True), ({"NO_COLOR": "1"}, False)):
        with terminal(TERM="xterm-256color", **environment) as shown:
            shown.run(top(url))
            shown.wait_for("Jobs: 1")
            assert ("\x1b[32m" in shown.coloured()) == has_colour  # watching
            assert re.search(r"\x1b\[(\d+;)*7[;m]", shown.coloured())  # the chosen row is reversed
            shown.press("q")
            wait_until(lambda: not shown.is_alternate(), "it has quit")


def test_no_daemon_yet(tmp_path: Path) -> None:
    with terminal() as shown:
        shown.run(top("http://127.0.0.1:9"))
        shown.wait_for("The daemon does not answer: Connection refused. Asked again every 500 ms.")
        shown.press("q")
        wait_until(lambda: not shown.is_alternate(), "it has quit")


def test_without_a_keyboard_or_into_a_pipe_it_prints_once(url: str) -> None:
    with terminal() as shown:
        shown.run(f"{top(url)} </dev/null; echo first=$?")
        shown.wait_for("first=0")
        assert not shown.is_alternate()
        assert "Ranks: 4" in shown.text()
        shown.run(f"clear; {top(url)} | cat -v; echo piped=${{PIPESTATUS[0]}}")
        shown.wait_for("piped=0")
        assert "Ranks: 4" in shown.text()
        assert "^[" not in shown.text()
