"""Plays one rank's script through plugins, in turns, each time in a process of its own."""

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from timing import Timing, together

EMPTY = "empty"


@dataclass(frozen=True)
class Played:
    """Times by plugin and kind of callback, in ticks, with what timing itself costs."""

    timings: dict[str, dict[str, Timing]]
    interfaces: dict[str, int]
    ns_per_tick: float
    harness_ticks: float
    step_ticks: int


class Bench:
    """`plugins` by name, the one that does nothing first; each play makes at least `callbacks` callbacks."""

    def __init__(self, tool: Path, plugins: dict[str, Path], callbacks: int) -> None:
        self._tool, self._plugins, self._callbacks = tool, plugins, callbacks

    def play(self, script: Path, sample: str | None, rounds: int) -> Played:
        """`sample` is NCCL_SENTINEL_SAMPLE, None the plugin's default."""
        timings: dict[str, dict[str, Timing]] = {name: defaultdict(Timing) for name in self._plugins}
        interfaces: dict[str, int] = {}
        for _ in range(rounds):
            harness = 0.0
            for name, path in self._plugins.items():
                said = self._run(path, script, sample, harness)
                interfaces[name] = said["interface"]
                for kind, histogram in said["ticks"].items():
                    timings[name][kind].add(histogram)
                if name == EMPTY:
                    harness, step = _cost(timings[EMPTY])
        return Played(timings, interfaces, said["ns_per_tick"], harness, step)

    def _run(self, plugin: Path, script: Path, sample: str | None, harness: float) -> dict[str, Any]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("NCCL_SENTINEL_")}
        environment["NCCL_SENTINEL_BUDGET"] = "off"  # no real job makes callbacks without pauses
        if sample is not None:
            environment["NCCL_SENTINEL_SAMPLE"] = sample
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            environment["NCCL_SENTINEL_DIR"] = folder
            command = [self._tool, "--plugin", plugin, "--script", script, "--callbacks", str(self._callbacks)]
            command += ["--overhead-ticks", str(harness)]
            done = subprocess.run(command, env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stderr.decode())
            done.check_returncode()
        said: dict[str, Any] = orjson.loads(done.stdout)
        return said


def _cost(timings: dict[str, Timing]) -> tuple[float, int]:
    """What timing costs a callback, and in which steps the counter advances; ticks."""
    timing = together(each for kind, each in timings.items() if kind != "launch")
    step = timing.step()
    (median,) = timing.quantiles([0.5], step)
    return median, step
