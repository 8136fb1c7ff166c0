"""Whether the daemon's memory and state stay as they are: a simulated day of ticks, at 1,024 ranks.

The daemon's own code from the store's answers to Alertmanager, with its endpoint; time is set forward, not waited for.
A simulated job behind Prometheus' query API gets a late rank each hour and starts anew, with new communicators, every
six; a real Alertmanager takes the alerts. Prints a row an hour. Run by `make bench-soak`.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table
from servers.alertmanager import alertmanager
from servers.webhook import webhook
from simulator.api import ClusterServer
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.presets import two_level
from simulator.regimes import Restart

from sentinel.config.settings import Settings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.front import Front
from sentinel.daemon.tally import Tally
from sentinel.daemon.watch import Watch

TICK_SECONDS = 30.0
HOUR_SECONDS = 3600.0
RESTART_HOURS = 6
MOST_GROWTH = 0.05  # of resident memory, after the first hour
_FAULT_SECONDS = 600.0
_SCRAPES_EVERY = 2  # ticks


@dataclass(frozen=True)
class Hour:
    """What there was at the end of an hour."""

    hour: int
    resident_bytes: int
    state_bytes: int
    incidents: int
    tick_seconds: float


def serve(ranks: int, hours: int, start: float, seed: int, pipe: Connection) -> None:
    """The simulated job, in a process of its own, until the pipe says so."""
    cluster = Cluster(two_level(ranks), seed=seed, tick_seconds=TICK_SECONDS, start=start)
    for hour in range(hours):
        begin = hour * HOUR_SECONDS + HOUR_SECONDS / 2
        cluster.add(LateRank(rank=hour * 37 % ranks, cost_ratio=0.1, begin=begin, end=begin + _FAULT_SECONDS))
        if hour and hour % RESTART_HOURS == 0:
            cluster.add(Restart(begin=hour * HOUR_SECONDS, down_seconds=120.0))
    with ClusterServer(cluster) as server:
        pipe.send(server.url)
        pipe.recv()


@contextmanager
def simulated(ranks: int, hours: int, start: float, seed: int) -> Iterator[str]:
    """The address of a server that answers for a job."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(ranks, hours, start, seed, theirs))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def soak(ranks: int, hours: int, seed: int, directory: Path, console: Console) -> Iterator[Hour]:
    """Run the ticks, and look each hour."""
    start = (time.time() - hours * HOUR_SECONDS) // TICK_SECONDS * TICK_SECONDS
    now = start
    with (
        simulated(ranks, hours, start, seed) as store,
        webhook() as receiver,
        alertmanager(directory / "alertmanager", receiver.url) as replica,
    ):
        settings = Settings.model_validate(
            {
                "prometheus": {"url": store},
                "alertmanager": {"urls": [replica]},
                "schedule": {"tick": f"{TICK_SECONDS:g}s", "evaluation_delay": "0s", "prime_ticks": 0},
                "state": {"directory": str(directory / "state")},
                "web": {"listen_address": "127.0.0.1:0"},
                "log": {"level": "error"},
            }
        )
        tally, clock = Tally(), SteadyClock(lambda: now, lambda: now)
        with Front(settings, tally, clock) as front:
            watch = Watch(settings, tally, clock, front)
            watch.begin()
            ticks = round(HOUR_SECONDS / TICK_SECONDS)
            for hour in track(range(hours), console=console, disable=not console.is_terminal):
                begun = time.process_time()
                for tick in range(ticks):
                    now += TICK_SECONDS
                    watch.run()
                    if tick % _SCRAPES_EVERY == 0:
                        httpx.get(f"http://{front.endpoint.address}/metrics", trust_env=False).raise_for_status()
                watch.settle()
                spent = (time.process_time() - begun) / ticks
                opened = sum(tally.opened.values())
                state = sum(file.stat().st_size for file in (directory / "state").iterdir() if file.is_file())
                yield Hour(hour + 1, _resident_bytes(), state, opened, spent)
            watch.finish()


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def main() -> int:
    """Exit status 1 where memory grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as directory:
        hours = list(soak(options.ranks, options.hours, options.seed, Path(directory), console))
    growth = max(each.resident_bytes for each in hours) / hours[0].resident_bytes - 1
    passed = growth < MOST_GROWTH
    if options.json:
        document = {"hours": [asdict(each) for each in hours], "growth_ratio": growth, "passed": passed}
        sys.stdout.write(json.dumps(document) + "\n")
        return 0 if passed else 1
    table = Table("hour", "resident MiB", "state KiB", "incidents so far", "processor seconds a tick")
    for each in hours:
        table.add_row(
            str(each.hour),
            f"{each.resident_bytes / 2**20:.1f}",
            f"{each.state_bytes / 2**10:.0f}",
            str(each.incidents),
            f"{each.tick_seconds:.3f}",
        )
    Console().print(table)
    word = "met" if passed else "MISSED"
    Console().print(f"resident memory grew by {growth:.1%} after the first hour; bar {MOST_GROWTH:.0%}: {word}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
