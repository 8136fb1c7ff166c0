"""A process that calls the plugin from several threads, with what NCCL does and with what it never would."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from plugin.mapped import Mapped


class Fuzzing:
    """The process; it says when it has begun, when all its threads are done, when all communicators are closed."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        self.process, self._directory = process, directory
        assert self.said() == {"playing": True}

    def said(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended with {self.process.wait()}"
        said: dict[str, Any] = orjson.loads(line)
        return said

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def mapped(self) -> Mapped:
        """The plugin's file now."""
        (path,) = self._directory.iterdir()
        return Mapped.read(path)


@contextmanager
def fuzzing(
    tool: Path, plugin: Path, directory: Path, *arguments: object, environment: Mapping[str, str] = {}
) -> Iterator[Fuzzing]:
    directory.mkdir(exist_ok=True)
    variables = {**os.environ, "NCCL_SENTINEL_DIR": str(directory), **environment}
    command = [tool, "--plugin", plugin, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables) as process:
        try:
            yield Fuzzing(process, directory)
        finally:
            process.kill()
