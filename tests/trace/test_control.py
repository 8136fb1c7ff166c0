"""Starting, steering and ending a player, and what it says when it cannot."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from player.run import PlayerRun, Scripts
from servers.process import wait_until

from sentinel.trace import StepRange, Trace

ALL = {"all": StepRange(0, 4)}
STALL = {"stall": StepRange(29, 33)}


def test_stops_at_the_end_of_the_iteration_when_stdin_ends(scripts: Scripts, small: Trace) -> None:
    run = scripts.play(small, 0, {"one": StepRange(1, 2)}, start="line")
    begin = PlayerRun.start_together([run])
    run.wait_for("segment")
    wait_until(lambda: time.monotonic_ns() > begin + 55_000_000, "an iteration is over")
    run.finish()
    stop = run.said("stop")[0]
    assert stop["at_ns"] == begin + stop["iteration"] * 10_000_000
    assert stop["iteration"] > 5
    assert len(run.calls("finalize")) == 1


def test_a_second_command_counts_from_the_first(scripts: Scripts, small: Trace) -> None:
    run = scripts.play(small, 0, {"a": StepRange(0, 1), "b": StepRange(0, 3)}, start="line")
    begin = PlayerRun.start_together([run])
    run.tell(f"switch b {begin + 15_000_000}")
    assert run.wait_for("planned") == {"event": "planned", "name": "b", "at_ns": begin + 20_000_000}
    run.tell(f"stop {begin + 21_000_000}")
    assert run.wait_for("planned") == {"event": "planned", "name": None, "at_ns": begin + 50_000_000}
    run.finish()
    assert run.said("stop") == [{"event": "stop", "at_ns": begin + 50_000_000, "iteration": 3}]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_at_once_when_told_to(scripts: Scripts, traces: Path, number: int) -> None:
    """Even in the middle of a silence of 25 s."""
    run = scripts.play(scripts.trace(traces / "stall2"), 2, STALL, start="line")
    begin = PlayerRun.start_together([run])
    wait_until(lambda: time.monotonic_ns() > begin + 50_000_000, "it plays")
    told = time.monotonic()
    run.process.send_signal(number)
    run.finish(close=False)
    assert time.monotonic() - told < 5
    assert len(run.calls("finalize")) == 2
    assert run.said("stop") == []


def test_ends_when_its_parent_is_killed(scripts: Scripts, traces: Path, recorder: Path, player: Path) -> None:
    """Whoever else holds the other end of its stdin."""
    run = scripts.play(scripts.trace(traces / "stall2"), 2, STALL, start="line")
    run.wait_for("ready")
    command = [str(each) for each in run.process.args]  # type: ignore[union-attr]
    record = run.record.with_name("orphan.jsonl")
    reader, writer = os.pipe()
    program = "import subprocess, sys; subprocess.run(sys.argv[1:], stdin=0)"
    environment = {**os.environ, "RECORDER_FILE": str(record)}
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", program, *command], stdin=reader, stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdout is not None
    assert b"ready" in parent.stdout.readline()
    parent.kill()
    parent.wait()
    # Its end of the pipe closes with it.
    assert parent.stdout.read() == b""
    parent.stdout.close()
    os.close(reader)
    os.close(writer)
    assert record.read_bytes().count(b'"finalize"') == 2
    run.finish()


def test_outlives_the_thread_that_started_it(scripts: Scripts, small: Trace) -> None:
    from threading import Thread

    made: list[PlayerRun] = []
    thread = Thread(target=lambda: made.append(scripts.play(small, 0, ALL, start="line")))
    thread.start()
    thread.join()
    run = made[0]
    PlayerRun.start_together([run])
    run.finish()
    assert run.said("stop")[0]["iteration"] == 1


@pytest.mark.parametrize("command", ["switch all 1", "stop 1"])
def test_a_late_command_is_an_error(scripts: Scripts, small: Trace, command: str) -> None:
    run = scripts.play(small, 0, ALL, start="line")
    PlayerRun.start_together([run])
    run.tell(command)
    run.finish(1)
    assert "cannot obey a command (stdin, line 2)" in run.log()
    assert "ms too late" in run.log()
    assert len(run.calls("finalize")) == 1


def test_a_late_start_is_an_error(scripts: Scripts, small: Trace) -> None:
    run = scripts.play(small, 0, ALL, start="12345")
    run.finish(1)
    assert "cannot start at 12345" in run.log()
    assert run.calls("start") == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("switch nowhere 99999999999999999", "cannot play segment nowhere (stdin, line 2).*It has: all"),
        ("switch all", "Allowed are `start NS`, `switch NAME NS` and `stop NS`"),
        ("stop soon", 'it is "stop soon"'),
        ("", 'it is ""'),
        ("start 99999999999999999", "cannot obey start (stdin, line 2): it has started"),
    ],
)
def test_a_wrong_command_is_an_error(scripts: Scripts, small: Trace, command: str, message: str) -> None:
    run = scripts.play(small, 0, ALL, start="line")
    PlayerRun.start_together([run])
    run.tell(command)
    run.finish(1)
    for part in message.split(".*"):
        assert part in run.log()


def test_commands_before_the_start_are_an_error(scripts: Scripts, small: Trace) -> None:
    run = scripts.play(small, 0, ALL, start="line")
    run.tell("stop 99999999999999999")
    run.finish(1)
    assert "it has not started" in run.log()


def test_a_plugin_that_refuses_is_an_error(scripts: Scripts, traces: Path) -> None:
    run = scripts.play(scripts.trace(traces / "stall2"), 2, STALL, environment={"RECORDER_RESULT": "3"})
    run.finish(1)
    assert "cannot open communicator 0 (recorder): the plugin's init returned 3" in run.log()
    assert run.calls("finalize") == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"--plugin": "/nowhere.so"},
            "cannot load a profiler plugin (/nowhere.so): /nowhere.so: cannot open shared object",
        ),
        ({"--plugin": "NO_PROFILER"}, "it exports no ncclProfiler_v7 and no older table"),
        ({"--plugin": "NO_PROFILER", "--interface": "4"}, "it exports no ncclProfiler_v4"),
        ({"--plugin": None}, "cannot play without --plugin"),
        ({"--script": "/nowhere.script"}, "cannot open a player script (/nowhere.script): No such file"),
        ({"--script": "/"}, "cannot use a player script (/): it is empty or not a file"),
        (
            {"--segment": "nowhere"},
            "cannot play segment nowhere (--segment): the script has none of that name. It has: all",
        ),
        ({"--pace": "0"}, "cannot use option --pace (0). Allowed is a number from 0.01 to 100"),
        ({"--pace": "nan"}, "cannot use option --pace (nan)"),
        ({"--resolution": "1"}, "cannot use option --resolution (1). Allowed is a duration"),
        ({"--interface": "0"}, "cannot use option --interface (0). Allowed is a number from 1 to 7"),
        ({"--interface": "8"}, "cannot use option --interface (8)"),
        ({"--interface": "4x"}, "cannot use option --interface (4x)"),
        ({"--start-at": "soon"}, "cannot use option --start-at (soon)"),
        ({"--speed": "1"}, "cannot use option --speed: there is none of that name"),
    ],
)
def test_wrong_usage_is_named(
    scripts: Scripts, small: Trace, native_tests: Path, changes: dict[str, Any], message: str
) -> None:
    good = scripts.play(small, 0, ALL, start="line")
    good.process.kill()
    words = [str(each) for each in good.process.args]  # type: ignore[union-attr]
    options = dict(zip(words[1::2], words[2::2], strict=True)) | changes
    plugin = str(native_tests / "libnccl-no-profiler.so")
    arguments = [word for option, value in options.items() if value is not None for word in (option, value)]
    command = [words[0], *(plugin if word == "NO_PROFILER" else word for word in arguments)]
    ended = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=30, text=True)
    assert message in ended.stderr
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


def test_help_names_every_option(player: Path) -> None:
    ended = subprocess.run([player, "--help"], capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stderr) == (0, "")
    for option in ("--plugin", "--script", "--segment", "--start-at", "--pace", "--resolution", "--interface"):
        assert option in ended.stdout


@pytest.mark.parametrize("damage", ["magic", "version", "cut", "section", "slot", "string"])
def test_refuses_a_damaged_script(scripts: Scripts, small: Trace, player: Path, recorder: Path, damage: str) -> None:
    run = scripts.play(small, 0, ALL, start="line")
    run.process.kill()
    path = run.record.parent / "rank00.script"
    data = bytearray(path.read_bytes())
    events = int.from_bytes(data[24 + 16 * 8 : 24 + 16 * 8 + 8], "little")
    reason = {
        "magic": "it does not begin as one",
        "version": "it has version 7, this player reads version 1",
        "cut": "bytes instead of",
        "section": "a section lies outside of it",
        "slot": "event 0 is not whole",
        "string": "event 0 is not whole",
    }[damage]
    if damage == "cut":
        del data[-64:]
    else:
        place = {"magic": 0, "version": 8, "section": 24 + 16 * 8 + 8, "slot": events + 16, "string": events + 48}[
            damage
        ]
        value = (7).to_bytes(4, "little") if damage == "version" else b"\xf0\xf0\xf0\x70"
        data[place : place + 4] = value
    path.write_bytes(data)
    command = [str(player), "--plugin", str(recorder), "--script", str(path), "--segment", "all"]
    ended = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=30, text=True)
    assert ended.returncode == 2
    assert f"cannot use a player script ({path}): " in ended.stderr
    assert reason in ended.stderr
