"""One recorded rank, played through a plugin from one thread as fast as it goes."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from plugin.mapped import Mapped

from sentinel.errors import TraceError
from sentinel.trace import StepRange, Trace, compile_scripts, read_trace

__all__ = ["Solo", "compile_trace", "play", "playing"]


def compile_trace(directory: Path, into: Path, steps: StepRange | None = None) -> tuple[Path, ...]:
    """A script of all ranks; of a trace that does not show its steps any number of operations is one here."""
    trace = _read(directory)
    into.mkdir(exist_ok=True)
    return compile_scripts(trace, {"all": steps or StepRange(0, trace.steps)}, into)


def _read(directory: Path) -> Trace:
    try:
        return read_trace(directory)
    except TraceError:
        return read_trace(directory, ops_per_step=3)


class Solo:
    """A player that has played and holds still."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        self._process, self._directory = process, directory
        self.said = self._next()

    def mapped(self) -> Mapped:
        """The plugin's file now."""
        (path,) = self._directory.iterdir()
        return Mapped.read(path)

    def close_communicators(self) -> None:
        self._line()
        assert self._next() == {"closed": True}

    def _line(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the player ended"
        said: dict[str, Any] = orjson.loads(line)
        return said


@contextmanager
def playing(
    tool: Path, plugin: Path, script: Path, directory: Path, *arguments: object, environment: Mapping[str, str] = {}
) -> Iterator[Solo]:
    """Plays once, and holds still until the end of the block."""
    directory.mkdir(exist_ok=True)
    command = [tool, "--plugin", plugin, "--script", script, "--hold", *map(str, arguments)]
    variables = _environment(directory, environment)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables) as process:
        try:
            yield Solo(process, directory)
            process.communicate(timeout=60)
            assert process.returncode == 0
        finally:
            process.kill()


def play(
    tool: Path, plugin: Path, script: Path, directory: Path, *arguments: object, environment: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Plays once and ends; what the player said."""
    directory.mkdir(exist_ok=True)
    command = [tool, "--plugin", plugin, "--script", script, *map(str, arguments)]
    done = subprocess.run(command, env=_environment(directory, environment), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    said: dict[str, Any] = orjson.loads(done.stdout)
    return said


def _environment(directory: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NCCL_SENTINEL_")}
    return {**kept, "NCCL_SENTINEL_DIR": str(directory), **more}
