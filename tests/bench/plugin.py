"""What a profiler plugin's callbacks cost: `plugin.py [--plugin OTHER.so]... [--trace DIR]... [--json]`.

Plays recorded traces through the plugin, through one that does nothing, and through others, in turns and each time in a
process of its own; docs/benchmarks.md says what is measured and how. Exits with 0 also where a bar is missed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parent))

from play import EMPTY, Bench
from table import OURS, Row, rows_of, write_table

from sentinel.errors import SentinelError, TraceError
from sentinel.trace import StepRange, Trace, compile_scripts, read_trace

ROOT = Path(__file__).parents[2]
SHARED, OWN = ROOT.parent / "shared/traces", ROOT / "sentinel/demo/traces"


def build(folder: Path) -> None:
    """The plugin and the bench, optimised as they are installed."""
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "cmake"
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DNCCL_SENTINEL_BUILD_TESTS=ON"]
    targets = ["nccl-profiler-sentinel", "nccl-profiler-empty", "nccl-sentinel-bench-plugin"]
    for command in (
        [cmake, "-S", ROOT, "-B", folder, "--log-level=WARNING", *options],
        [cmake, "--build", folder, "--parallel", "2", "--target", *targets],
    ):
        subprocess.run(command, check=True, stdout=sys.stderr)


def read(directory: Path) -> Trace:
    """A trace; of one that does not show its steps any number of operations is a step here."""
    try:
        return read_trace(directory)
    except TraceError:
        return read_trace(directory, ops_per_step=3)


def measure(bench: Bench, directory: Path, rank: int, rounds: int) -> Iterator[Row]:
    """All of a trace's steps, as one rank had them."""
    trace = read(directory)
    with tempfile.TemporaryDirectory() as folder:
        script = compile_scripts(trace, {"all": StepRange(0, trace.steps)}, Path(folder))[rank]
        yield from rows_of(directory.name, bench.play(script, "all", rounds), [("everything on", False)])
        played = bench.play(script, None, rounds)
        yield from rows_of(directory.name, played, [("default sampling", False), ("skipped by sampling", True)])


def traces_here() -> list[Path]:
    """The recorded traces beside the project, else those of the demo."""
    return sorted(each for each in (SHARED if SHARED.is_dir() else OWN).iterdir() if each.is_dir())


def main() -> int:
    parser = argparse.ArgumentParser(description="Nanoseconds that a profiler plugin's callbacks take")
    parser.add_argument("--plugin", type=Path, action="append", default=[], help="another plugin's .so, beside ours")
    parser.add_argument("--trace", type=Path, nargs="+", help="folders of traces (default: all that are here)")
    parser.add_argument("--rank", type=int, default=0, help="whose callbacks are played")
    parser.add_argument("--rounds", type=int, default=3, help="how often each plugin has its turn")
    parser.add_argument("--callbacks", type=int, default=300_000, help="callbacks in each turn, at least")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", help="where the native parts are built")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    asked = parser.parse_args()
    build(asked.build)
    native = asked.build / "plugin"
    plugins = {EMPTY: native / "bench/libnccl-profiler-empty.so", OURS: native / "libnccl-profiler-sentinel.so"}
    for path in asked.plugin:
        name = path.stem.removeprefix("libnccl-profiler-")
        plugins[f"other {name}" if name in plugins else name] = path.absolute()
    bench = Bench(native / "bench/nccl-sentinel-bench-plugin", plugins, asked.callbacks)
    try:
        for directory in asked.trace or traces_here():
            rows = list(measure(bench, directory, asked.rank, asked.rounds))
            lines = (
                (orjson.dumps(asdict(row)).decode() for row in rows) if asked.json else write_table(rows, list(plugins))
            )
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
    except SentinelError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
