"""What `sentinel baseline build` takes for a long history: in one process, and on Dask workers of this machine.

The command itself, in a process of its own; in two others a simulated job's past behind Prometheus' query API, whose
answers cost the same processors. Builds alternate, `--rounds` times; all must give the same bytes. Prints the seconds,
the most that was resident, and how much faster workers were. Run by `make bench-baseline`.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from machine import machine, most_resident_bytes
from rich.console import Console
from rich.table import Table
from servers.dask_cluster import dask_scheduler, dask_workers

from sentinel.state.store import State

TICK_SECONDS = 60
START = 1_700_000_040  # Unix seconds, a tick before the first
DAY_SECONDS = 86_400
BAR_SECONDS = 300.0
BAR_BYTES = 1 << 30
BAR_RATIO = 1.6  # with two workers, of the seconds of one process
_PACKAGES = ("nccl-sentinel", "numpy", "distributed")


@dataclass(frozen=True)
class Build:
    """One build. `processor_seconds` are of the command and its workers, so that a busy machine shows.

    Bytes are the most that was resident, of the command and of the largest worker.
    """

    workers: int
    seconds: float
    processor_seconds: float
    resident_bytes: int
    worker_bytes: int
    rows: int
    digest: str


@contextmanager
def recorded(ranks: int, ticks: int, layout: str, seed: int) -> Iterator[str]:
    """The address of a server that has a job's past, when it is ready to answer."""
    numbers = {"ranks": ranks, "ticks": ticks, "tick-seconds": TICK_SECONDS, "start": START, "seed": seed}
    options = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "simulator.history_api",
            "--layout",
            layout,
            "--collectives",
            "--processes",
            "2",
            *options,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def build(store: str, ticks: int, directory: Path, scheduler: str = "", workers: Sequence[int] = ()) -> Build:
    """Run the command, in a new state directory. `workers` are process ids."""
    state = directory / f"state{time.monotonic_ns()}"
    settings = (f"prometheus.url={store}", f"schedule.tick={TICK_SECONDS}s", f"state.directory={state}")
    arguments = ["--from", str(START + TICK_SECONDS), "--to", str(START + ticks * TICK_SECONDS), "--json"]
    arguments += [word for each in settings for word in ("--set", each)] + (["--dask", scheduler] if scheduler else [])
    begun, spent = time.monotonic(), sum(map(processor_seconds, workers))
    with (directory / "built.json").open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "sentinel", "baseline", "build", *arguments], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    with State.open_readonly(state) as opened:
        stored = opened.baseline()
    assert stored is not None
    return Build(
        workers=len(workers),
        seconds=seconds,
        processor_seconds=usage.ru_utime + usage.ru_stime + sum(map(processor_seconds, workers)) - spent,
        resident_bytes=usage.ru_maxrss * 1024,
        worker_bytes=max(map(most_resident_bytes, workers), default=0),
        rows=json.loads((directory / "built.json").read_bytes())["rows"],
        digest=hashlib.sha256(stored.data).hexdigest(),
    )


def processor_seconds(pid: int) -> float:
    """What a process that lives has had of them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def builds(options: argparse.Namespace, ticks: int, directory: Path) -> Iterator[Build]:
    """In turns: here, and on workers that are new each time."""
    with recorded(options.ranks, ticks, options.layout, options.seed) as store:
        for _ in range(options.rounds):
            yield build(store, ticks, directory)
            if options.workers:
                with (
                    dask_scheduler(directory) as scheduler,
                    dask_workers(scheduler, directory, options.workers) as processes,
                ):
                    yield build(store, ticks, directory, scheduler, [process.pid for process in processes])


def ratio_of(found: Sequence[Build]) -> float | None:
    """How many times as fast workers were, by medians; None where there were none."""
    seconds = [[each.seconds for each in found if bool(each.workers) == far] for far in (False, True)]
    here, there = (statistics.median(each) if each else 0.0 for each in seconds)
    return here / there if there else None


def misses(found: Sequence[Build], ratio: float | None) -> list[str]:
    """Which bars were missed."""
    here = [each for each in found if not each.workers]
    wrong = {
        "builds differ": len({each.digest for each in found}) > 1,
        f"more than {BAR_SECONDS:g} s": statistics.median(each.seconds for each in here) > BAR_SECONDS,
        "more than 1 GiB": max(each.resident_bytes for each in found) > BAR_BYTES,
        f"less than {BAR_RATIO:g} times as fast with two workers": ratio is not None
        and found[-1].workers == 2
        and ratio < BAR_RATIO,
    }
    return [what for what, is_so in wrong.items() if is_so]


def main() -> int:
    """Exit status 1 when a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--layout", choices=("fsdp", "hybrid", "two_level"), default="hybrid")
    parser.add_argument("--workers", type=int, default=2, help="of Dask, one thread each; 0: none")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ticks = round(options.days * DAY_SECONDS / TICK_SECONDS)
    with tempfile.TemporaryDirectory() as directory:
        found = list(builds(options, ticks, Path(directory)))
    ratio = ratio_of(found)
    missed = misses(found, ratio)
    if options.json:
        document = {
            "builds": [asdict(each) for each in found],
            "ratio": ratio,
            "missed": missed,
            "machine": machine(*_PACKAGES),
        }
        sys.stdout.write(json.dumps(document) + "\n")
        return 1 if missed else 0
    table = Table("ranks", "ticks", "cells", "Dask workers", "seconds", "processor s", "resident MiB", "of a worker")
    for each in found:
        table.add_row(
            f"{options.ranks:,}",
            f"{ticks:,}",
            f"{each.rows:,}",
            str(each.workers or ""),
            f"{each.seconds:.1f}",
            f"{each.processor_seconds:.1f}",
            f"{each.resident_bytes / 2**20:.0f}",
            f"{each.worker_bytes / 2**20:.0f}" if each.workers else "",
        )
    console = Console(width=120)
    console.print(table)
    if ratio is not None:
        console.print(f"with workers {ratio:.2f} times as fast")
    console.print(f"bars: {'; '.join(missed) if missed else 'met, and all builds gave the same bytes'}")
    console.print(machine(*_PACKAGES))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
