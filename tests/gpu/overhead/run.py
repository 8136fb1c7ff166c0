"""What the plugin costs a job on two GPUs: paired, interleaved runs with and without it.

    PYTHONPATH=tests python -m gpu.overhead.run --plugin SO --date 2026-11-30 --out overhead.jsonl

Writes one JSON object a line: the machine, then each workload of each run. `gpu.overhead.report` makes the page of it.
Exits 1 when something is wrong with the measurement, at once where a variant's plugin was not loaded.
"""

import argparse
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from gpu.overhead.ratios import NONE
from gpu.pair.counts import Counts, Files
from gpu.pair.processes import RANKS, Pair, PairError

# The step comes first: back-to-back operations make the governor sample less, for minutes. The graph comes last:
# whether its first operation is timed decides for all that follow.
WORKLOADS: Final = ("step", "all_reduce_64k", "all_reduce_1m", "graph_64k")
GRAPHS: Final = ("graph_64k",)
WORKLOAD_SECONDS: Final = 60.0
OURS: Final = "Sentinel"
GRAPH_TURNS: Final = 3  # each captures anew, which leaves memory of NCCL's behind
# Variants that leave NCCL's own rings time: of these a stream that rested for long may learn too late that its next
# operation was chosen, one on each of a few streams. With all operations timed NCCL itself overwrites some.
SAMPLED: Final = ("default", "ungoverned")
REFUSED: Final = 4
OPEN: Final = 2  # of which NCCL tells the end later, with the next operation

Environment = Mapping[str, str]


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", type=Path, required=True, help="libnccl-profiler-sentinel.so")
    parser.add_argument(
        "--other", action="append", default=[], metavar="NAME=SO", help="another plugin to compare with"
    )
    parser.add_argument(
        "--other-env", action="append", default=[], metavar="KEY=VALUE", help="set for the others alone"
    )
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only these; default: all")
    parser.add_argument("--values", choices=("zeros", "random"), default="zeros", help="what the step multiplies")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--turns", type=int, default=12, help="of each workload in a round")
    parser.add_argument("--seconds", type=float, default=450.0, help="begin no round that would end later")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the variants")
    parser.add_argument("--date", required=True, help="as it is to stand in the report")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def ours(options: argparse.Namespace) -> dict[str, Environment]:
    """Environment of each variant of our plugin. Raises FileNotFoundError."""
    plugin = {"NCCL_PROFILER_PLUGIN": str(options.plugin.resolve(strict=True))}
    return {
        "default": plugin,
        "ungoverned": {**plugin, "NCCL_SENTINEL_BUDGET": "off"},
        # Without the governor, which would sample after all.
        "all": {**plugin, "NCCL_SENTINEL_SAMPLE": "all", "NCCL_SENTINEL_BUDGET": "off"},
        "off": {**plugin, "NCCL_SENTINEL_SAMPLE": "off"},
    }


def others(options: argparse.Namespace) -> dict[str, Environment]:
    """The same of other plugins. Raises FileNotFoundError."""
    found: dict[str, Environment] = {}
    extra = dict(setting.split("=", 1) for setting in options.other_env)
    for other in options.other:
        name, path = other.split("=", 1)
        found[name] = {"NCCL_PROFILER_PLUGIN": str(Path(path).resolve(strict=True)), **extra}
    return found


class Started:
    """A variant's pair of processes, starting, and what its plugin counts. `plugins` are told once they are ready."""

    def __init__(self, environment: Environment, has_counts: bool) -> None:
        # Where the plugin keeps its file by default: a file on a disk would be written back meanwhile.
        self._folder = Path(tempfile.mkdtemp(prefix="overhead-", dir="/dev/shm"))
        source = self._folder / "source"
        source.mkdir()
        ours = {"NCCL_SENTINEL_DIR": str(source)} if has_counts else {}
        self._files = Files(source) if has_counts else None
        self._before = Counts()
        self.plugins: list[str] = []
        try:
            self.pair = Pair("gpu.overhead.job", {**environment, **ours}, self._folder)
        except BaseException:
            self._remove()
            raise

    def __exit__(self, *error: object) -> None:
        try:
            self.pair.__exit__(*error)
        finally:
            self._remove()

    def counted(self) -> Counts | None:
        """What was counted since this was asked last; None where nothing is read."""
        if not self._files or self._files.trouble:
            return None
        total = self._files.total()
        counts, self._before = total - self._before, total
        return counts

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class Measurement:
    """Runs variants and writes down what it saw; `problems` are what makes it worth less."""

    def __init__(self, options: argparse.Namespace, out: TextIO) -> None:
        self._workloads: Sequence[str] = options.workload or WORKLOADS
        values = {"OVERHEAD_VALUES": options.values}
        self._environments: dict[str, Environment] = {
            name: {**environment, **values}
            for name, environment in {NONE: {}, **ours(options), **others(options)}.items()
        }
        self._turns = options.turns
        self._ours = frozenset(ours(options))
        self._values = options.values
        self._out = out
        self._machine_written = False
        self._date = options.date
        self.problems: list[str] = []

    def round(self, number: int, order: random.Random) -> None:
        """New processes for every variant, two pairs without a plugin; then they take turns. Raises PairError."""
        began = time.monotonic()
        variants = [NONE, *(name for name in self._environments if name != NONE), NONE]
        with ExitStack() as stack:
            pairs = [
                (place, name, stack.push(Started(self._environments[name], name in self._ours)))
                for place, name in enumerate(variants)
            ]
            for _, variant, started in pairs:
                started.pair.ready()
                started.plugins = started.pair.plugins()
                self._check_plugins(f"round {number}, {variant}", variant, started.plugins)
            self._write_machine(pairs[0][2].pair.facts)
            ready = time.monotonic()
            for workload in self._workloads:
                for turn in range(min(self._turns, GRAPH_TURNS) if workload in GRAPHS else self._turns):
                    for place, variant, started in order.sample(pairs, len(pairs)):
                        ranks = started.pair.ask(workload, WORKLOAD_SECONDS)
                        run = {"round": number, "turn": turn, "place": place, "variant": variant}
                        plugin = started.plugins[0]
                        self._write(record="run", **run, workload=workload, plugin=plugin, ranks=ranks)
                for _, variant, started in pairs:
                    self._write_counts(number, variant, workload, started.counted())
        print(f"round {number}: {ready - began:.1f} s to start, {time.monotonic() - ready:.1f} s to run", flush=True)

    def _write_counts(self, number: int, variant: str, workload: str, counts: Counts | None) -> None:
        if counts is not None:
            self._check_counts(f"round {number}, {variant}, {workload}", variant, workload, counts)
            self._write(record="counts", round=number, variant=variant, workload=workload, **asdict(counts))

    def _check_plugins(self, where: str, variant: str, plugins: Sequence[str]) -> None:
        if variant == NONE:
            wrong = any(plugins)
        elif variant in self._ours:
            wrong = not all(plugin.startswith(OURS) for plugin in plugins)
        else:
            wrong = not all(plugins)
        if wrong:
            raise PairError(f"{where}: NCCL loaded {plugins}")

    def _check_counts(self, where: str, variant: str, workload: str, counts: Counts) -> None:
        if not counts.started and workload not in GRAPHS:
            self.problems.append(f"{where}: nothing was counted")
        is_chance = variant in SAMPLED and workload in GRAPHS
        if not is_chance and (counts.measured > 0) == (variant == "off"):
            self.problems.append(f"{where}: {counts.measured} of {counts.started} operations measured")
        if abs(counts.open) > OPEN * RANKS:
            self.problems.append(f"{where}: {counts.open} neither ended nor left out")
        if variant in SAMPLED and workload not in GRAPHS and counts.refused > REFUSED * RANKS:
            self.problems.append(f"{where}: {counts.refused} refused")

    def _write_machine(self, facts: Sequence[Mapping[str, str]]) -> None:
        if not self._machine_written:
            self._write(record="machine", date=self._date, values=self._values, **machine(), **facts[0])
            self._machine_written = True

    def _write(self, **fields: Any) -> None:
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()


def machine() -> dict[str, Any]:
    """Facts that no rank has to tell."""
    cpu = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        driver = "unknown"
    return {
        "cpu": cpu[1] if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "driver": driver,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def main() -> int:
    """Measure. Exit status."""
    options = parse()
    began = time.monotonic()
    order = random.Random(options.seed)  # noqa: S311
    longest = 0.0
    if trouble := Files(options.out.parent).trouble:
        print(f"overhead: {trouble}", file=sys.stderr)
    with options.out.open("w") as out:
        measurement = Measurement(options, out)
        for number in range(options.rounds):
            start = time.monotonic()
            if start - began + longest > options.seconds:
                print(f"{number} rounds of {options.rounds}: no time for another", file=sys.stderr)
                break
            try:
                measurement.round(number, order)
            except PairError as error:
                print(f"overhead: {error}", file=sys.stderr)
                return 1
            longest = max(longest, time.monotonic() - start)
    for problem in measurement.problems:
        print(f"overhead: {problem}", file=sys.stderr)
    return 1 if measurement.problems else 0


if __name__ == "__main__":
    sys.exit(main())
