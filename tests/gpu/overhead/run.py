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
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from gpu.overhead.ratios import NONE
from gpu.pair.counts import Counts, Files
from gpu.pair.processes import Pair, PairError

WORKLOADS: Final = ("all_reduce_64k", "all_reduce_1m", "step", "graph_64k")
WORKLOAD_SECONDS: Final = 60.0
OURS: Final = "Sentinel"

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
    parser.add_argument("--seconds", type=float, default=450.0, help="begin no round that would end later")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the variants")
    parser.add_argument("--date", required=True, help="as it is to stand in the report")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def variants(options: argparse.Namespace) -> dict[str, Environment]:
    """Environment of each variant but NONE. Raises FileNotFoundError."""
    plugin = {"NCCL_PROFILER_PLUGIN": str(options.plugin.resolve(strict=True))}
    found: dict[str, Environment] = {
        "default": plugin,
        "all": {**plugin, "NCCL_SENTINEL_SAMPLE": "all"},
        "off": {**plugin, "NCCL_SENTINEL_SAMPLE": "off"},
    }
    extra = dict(setting.split("=", 1) for setting in options.other_env)
    for other in options.other:
        name, path = other.split("=", 1)
        found[name] = {"NCCL_PROFILER_PLUGIN": str(Path(path).resolve(strict=True)), **extra}
    return found


class Measurement:
    """Runs variants and writes down what it saw; `problems` are what makes it worth less."""

    def __init__(self, options: argparse.Namespace, out: TextIO) -> None:
        self._workloads: Sequence[str] = options.workload or WORKLOADS
        self._environments: dict[str, Environment] = {NONE: {}, **variants(options)}
        self._ours = {"default", "all", "off"}
        self._values = options.values
        self._out = out
        self._machine_written = False
        self._date = options.date
        self.problems: list[str] = []

    def round(self, number: int, order: random.Random) -> None:
        """Every variant once, and no plugin first and last. Raises PairError."""
        between = [name for name in self._environments if name != NONE]
        order.shuffle(between)
        for place, variant in enumerate([NONE, *between, NONE]):
            # Where the plugin keeps its file by default: a file on a disk would be written back meanwhile.
            folder = Path(tempfile.mkdtemp(prefix="overhead-", dir="/dev/shm"))
            try:
                self._run(number, place, variant, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _run(self, number: int, place: int, variant: str, folder: Path) -> None:
        source = folder / "source"
        source.mkdir()
        environment = {**self._environments[variant], "OVERHEAD_VALUES": self._values}
        if variant in self._ours:
            environment["NCCL_SENTINEL_DIR"] = str(source)
        files = Files(source) if variant in self._ours else None
        where = f"round {number}, {variant}"
        began = time.monotonic()
        with Pair("gpu.overhead.job", environment, folder) as pair:
            plugins = pair.plugins()
            self._check_plugins(where, variant, plugins)
            self._write_machine(pair.facts)
            before = files.total() if files and not files.trouble else None
            shown = []
            for workload in self._workloads:
                ranks = pair.ask(workload, WORKLOAD_SECONDS)
                counts = None
                if files and before is not None:
                    after = files.total()
                    counts, before = after - before, after
                    self._check_counts(f"{where}, {workload}", variant, counts)
                self._write(
                    record="run",
                    round=number,
                    place=place,
                    variant=variant,
                    workload=workload,
                    plugin=plugins[0],
                    ranks=ranks,
                    counts=asdict(counts) if counts is not None else None,
                )
                shown.append(f"{workload} {sum(rank['median_us'] for rank in ranks) / len(ranks):.2f} us")
        print(f"{where} ({time.monotonic() - began:.1f} s): {', '.join(shown)}", flush=True)

    def _check_plugins(self, where: str, variant: str, plugins: Sequence[str]) -> None:
        if variant == NONE:
            wrong = any(plugins)
        elif variant in self._ours:
            wrong = not all(plugin.startswith(OURS) for plugin in plugins)
        else:
            wrong = not all(plugins)
        if wrong:
            raise PairError(f"{where}: NCCL loaded {plugins}")

    def _check_counts(self, where: str, variant: str, counts: Counts) -> None:
        if not counts.started:
            self.problems.append(f"{where}: nothing was counted")
        if (counts.measured > 0) != (variant != "off"):
            self.problems.append(f"{where}: {counts.measured} of {counts.started} operations measured")
        if counts.refused or counts.open:
            self.problems.append(f"{where}: {counts.refused} refused, {counts.open} neither ended nor left out")

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
