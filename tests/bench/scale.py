"""What a tick of the daemon takes, in time and in memory, as clusters grow: from the store's answers to its page.

The daemon's own code, in a process of its own; in another a simulated job behind Prometheus' query API, whose answers
are written before they are asked for. Time is set forward, not waited for. Prints a row a size: the first tick, in
which every label is new, the median and the largest of the others, and how they grow from the smallest size on. Then
the largest with the recording rules, and one there of more operations whose network steps are measured as well. Run by
`make bench-scale`.
"""

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from machine import most_resident_bytes
from rich.console import Console
from rich.progress import track
from rich.table import Table
from simulator.api import ClusterServer
from simulator.cluster import Cluster
from simulator.presets import fsdp, replicated

from sentinel.config.settings import Settings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.front import Front
from sentinel.daemon.tally import Tally
from sentinel.daemon.watch import Watch
from sentinel.source import prometheus_query

RANKS = (1024, 8192, 32_768, 100_000)
TICK_SECONDS = 30.0
LAYOUTS = {"replicated": replicated, "sharded": fsdp}
MOST_BYTES = 2 << 30
_START = 1_700_000_010.0


@dataclass(frozen=True)
class Setting:
    """One job; whether the store evaluates our recording rules, and whether network steps are measured.

    `most_seconds` is the bar for a tick, 0 for none.
    """

    layout: str
    ranks: int
    rules: bool = False
    network: bool = False
    most_seconds: float = 0.0


SETTINGS = (
    *(Setting("replicated", ranks) for ranks in RANKS[:-1]),
    Setting("replicated", RANKS[-1], most_seconds=10.0),
    Setting("replicated", RANKS[-1], rules=True, most_seconds=4.0),
    Setting("sharded", RANKS[-1], network=True),
)


@dataclass(frozen=True)
class Cost:
    """Of ticks in one setting. `series` are those of the answers; `resident_bytes` is the most that the daemon had."""

    setting: Setting
    series: int
    answer_bytes: int
    first_seconds: float
    median_seconds: float
    largest_seconds: float
    processor_seconds: float
    resident_bytes: int

    @property
    def passed(self) -> bool:
        """Whether the bars are met, where there are any."""
        most = self.setting.most_seconds
        return not most or (self.median_seconds <= most and self.resident_bytes <= MOST_BYTES)


def serve(setting: Setting, seed: int, pipe: Connection) -> None:
    """The simulated store, until the pipe says None; for each Unix time it says how many series and bytes it has."""
    layout = LAYOUTS[setting.layout](setting.ranks)
    cluster = Cluster(layout, seed=seed, tick_seconds=TICK_SECONDS, start=_START)
    without = () if setting.network else (prometheus_query.network(""),)
    with ClusterServer(cluster, rules=setting.rules, without=without) as server:
        pipe.send(server.url)
        while (at := pipe.recv()) is not None:
            pipe.send(server.prepare(at))


def watch(url: str, setting: Setting, pipe: Connection) -> None:
    """The daemon: a tick at each Unix time that the pipe says, until it says None."""
    now = _START
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings.model_validate(
            {
                "prometheus": {"url": url, "recording_rules": setting.rules},
                "alertmanager": {"urls": []},
                "schedule": {"tick": f"{TICK_SECONDS:g}s", "evaluation_delay": "0s", "prime_ticks": 0},
                "state": {"directory": str(Path(directory) / "state")},
                "web": {"listen_address": "127.0.0.1:0"},
                "log": {"level": "error"},
            }
        )
        tally, clock = Tally(), SteadyClock(lambda: now, lambda: now)
        with Front(settings, tally, clock) as front:
            daemon = Watch(settings, tally, clock, front)
            daemon.begin()
            pipe.send(None)
            while (at := pipe.recv()) is not None:
                now = at
                begun, spent = time.perf_counter(), time.process_time()
                error = daemon.run().error
                seconds = time.perf_counter() - begun
                most = most_resident_bytes()
                if error is not None:
                    raise error
                pipe.send((seconds, time.process_time() - spent, most, sum(tally.opened.values())))
            daemon.finish()


@contextmanager
def process(target: object, *arguments: object) -> Iterator[tuple[object, Connection]]:
    """One with a pipe: what it says first, and the pipe. It ends by itself."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=target, args=(*arguments, theirs))  # type: ignore[arg-type]
    child.start()
    theirs.close()
    try:
        yield ours.recv(), ours
        ours.send(None)
    finally:
        ours.close()
        child.join()


def cost(setting: Setting, ticks: int, seed: int) -> Cost:
    """Of the first tick, and of so many others."""
    found: list[tuple[float, float, int, int]] = []
    with process(serve, setting, seed) as (url, store), process(watch, url, setting) as (_, daemon):
        for tick in range(1, ticks + 2):
            at = _START + tick * TICK_SECONDS
            store.send(at)
            series, size = store.recv()
            daemon.send(at)
            found.append(daemon.recv())
    first, *others = (each[0] for each in found)
    return Cost(
        setting=setting,
        series=series,
        answer_bytes=size,
        first_seconds=first,
        median_seconds=statistics.median(others),
        largest_seconds=max(others),
        processor_seconds=statistics.median(each[1] for each in found[1:]),
        resident_bytes=found[-1][2],
    )


def main() -> int:
    """Exit status 1 when a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-ranks", type=int, default=RANKS[-1], help="no larger jobs")
    parser.add_argument("--ticks", type=int, default=6, help="after the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = [setting for setting in SETTINGS if setting.ranks <= options.most_ranks]
    progress = Console(stderr=True)
    settings = track(chosen, console=progress, disable=not progress.is_terminal)
    costs = [cost(setting, options.ticks, options.seed) for setting in settings]
    if options.json:
        sys.stdout.write(json.dumps([asdict(each) | {"passed": each.passed} for each in costs]) + "\n")
    else:
        _report(costs)
    return 0 if all(each.passed for each in costs) else 1


def _report(costs: list[Cost]) -> None:
    heads = (
        "job",
        "ranks",
        "series",
        "answers, MiB",
        "first tick, s",
        "median",
        "largest",
        "processor",
        "MiB",
        "growth",
        "bar",
    )
    table = Table(*heads)
    start = costs[0]
    for each in costs:
        growth = f"{each.median_seconds / start.median_seconds:.0f} times for {each.series / start.series:.0f} times"
        bar = f"{each.setting.most_seconds:g} s: {'met' if each.passed else 'MISSED'}"
        table.add_row(
            each.setting.layout + ", network" * each.setting.network + ", rules" * each.setting.rules,
            f"{each.setting.ranks:,}",
            f"{each.series:,}",
            f"{each.answer_bytes / 2**20:.0f}",
            f"{each.first_seconds:.2f}",
            f"{each.median_seconds:.2f}",
            f"{each.largest_seconds:.2f}",
            f"{each.processor_seconds:.2f}",
            f"{each.resident_bytes / 2**20:.0f}",
            "" if each is start else growth,
            bar if each.setting.most_seconds else "",
        )
    Console(width=150).print(table)
    Console(width=150).print(
        f"seconds; median and largest of the ticks after the first; where there is a bar, also {MOST_BYTES >> 20} MiB"
    )


if __name__ == "__main__":
    sys.exit(main())
