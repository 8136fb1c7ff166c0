"""A player under test: started on a compiled trace, steered, and read back through the recorder plugin."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from sentinel.trace import StepRange, Trace, compile_scripts, read_trace

_DEADLINE_SECONDS = 30.0
_NOTICE_NS = 100_000_000

Row = dict[str, Any]


class PlayerRun:
    """One player process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.record = folder / "calls.jsonl"
        self._log = folder / "stderr"
        self._said: list[Row] = []
        self._told_to_stop = False
        environment = {**os.environ, **environment, "RECORDER_FILE": str(self.record)}
        with self._log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment
            )

    @staticmethod
    def start_together(runs: Sequence["PlayerRun"]) -> int:
        """Start all at one moment, which is returned (CLOCK_MONOTONIC, ns)."""
        for run in runs:
            run.wait_for("ready")
        begin = time.monotonic_ns() + _NOTICE_NS
        for run in runs:
            run.tell(f"start {begin}")
        return begin

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self._told_to_stop = self._told_to_stop or line.startswith("stop ")
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def wait_for(self, event: str) -> Row:
        """The next line on stdout that says so."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._said.append(orjson.loads(line))
            if self._said[-1]["event"] == event:
                return self._said[-1]
        raise AssertionError(f"the player ended without saying {event}: {self.log()}")

    def finish(self, status: int = 0, *, close: bool = True) -> None:
        """Wait for its end; with `close`, stdin has ended before."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if close and not self._told_to_stop:
            self.process.stdin.close()
        rest = self.process.stdout.read()
        self._said += [orjson.loads(line) for line in rest.splitlines()]
        assert self.process.wait(_DEADLINE_SECONDS) == status, self.log()
        self.close()

    def close(self) -> None:
        """Nothing of it is left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def said(self, event: str) -> list[Row]:
        return [each for each in self._said if each["event"] == event]

    def calls(self, *names: str) -> list[Row]:
        """What the plugin was told, in order."""
        return [row for line in self.record.read_bytes().splitlines() if (row := orjson.loads(line))["call"] in names]

    def log(self) -> str:
        return self._log.read_text()


class Scripts:
    """Compiles traces and plays them."""

    def __init__(self, folder: Path, player: Path, recorder: Path) -> None:
        self._folder, self._player, self._recorder = folder, player, recorder
        self._runs: list[PlayerRun] = []

    def trace(self, directory: Path, ops_per_step: int | None = None) -> Trace:
        return read_trace(directory, ops_per_step=ops_per_step)

    def play(
        self,
        trace: Trace,
        rank: int,
        segments: Mapping[str, StepRange],
        *,
        pace: float = 1.0,
        start: str = "now",
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> PlayerRun:
        """Start a player with the first segment; `start` "line" leaves the moment to a line on stdin."""
        folder = self._folder / f"run{len(self._runs)}"
        folder.mkdir()
        script = compile_scripts(trace, segments, folder)[rank]
        command = [str(self._player), "--plugin", str(self._recorder), "--script", str(script)]
        command += ["--segment", next(iter(segments)), "--pace", str(pace), *arguments]
        if start != "line":
            command += ["--start-at", start]
        self._runs.append(PlayerRun(command, environment or {}, folder))
        return self._runs[-1]

    def close(self) -> None:
        for run in self._runs:
            run.close()
