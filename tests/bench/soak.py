"""Whether the daemon's memory and files stay as they are: a simulated day of ticks, at 1,024 ranks.

The daemon's own code from the store's answers to Alertmanager, with its endpoint; time is set forward, not waited for,
and what a tick leaves to threads is waited for before the next one: there are 30 s for it.
A simulated job behind Prometheus' query API gets a late rank each hour and starts anew, with new communicators, in the
first hour and then every six; a real Alertmanager takes the alerts; the status page is read twice an hour. Prints a row
an hour: the most that was resident at a tick of it, visits included. The first hour has a restart, since every day has
one: two jobs are in memory at once for a while, and what that takes is not the day's growth. Run by `make bench-soak`.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

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
from sentinel.daemon.heap import share_heap
from sentinel.daemon.log import configure_log
from sentinel.daemon.tally import Tally
from sentinel.daemon.watch import Watch
from sentinel.history.archive_file import FILE_NAME as HISTORY
from sentinel.state.database import FILE_NAME as DATABASE

TICK_SECONDS = 30.0
HOUR_SECONDS = 3600.0
FIRST_RESTART_HOURS = 0.25
RESTART_HOURS = 6
MOST_GROWTH = 0.05  # of resident memory, after the first hour
_FAULT_SECONDS = 600.0
_DOWN_SECONDS = 120.0
_SETTLE_SECONDS = 10.0
_SCRAPES_EVERY = 2  # ticks
_VISITS_EVERY = 60


@dataclass(frozen=True)
class Hour:
    """What there was at the end of an hour; `resident_bytes` is the most in it."""

    hour: int
    resident_bytes: int
    state_bytes: int
    history_bytes: int
    incidents: int
    tick_seconds: float


def serve(ranks: int, hours: int, start: float, seed: int, pipe: Connection) -> None:
    """The simulated job, in a process of its own, until the pipe says so."""
    cluster = Cluster(two_level(ranks), seed=seed, tick_seconds=TICK_SECONDS, start=start)
    for hour in range(hours):
        begin = hour * HOUR_SECONDS + HOUR_SECONDS / 2
        cluster.add(LateRank(rank=hour * 37 % ranks, cost_ratio=0.1, begin=begin, end=begin + _FAULT_SECONDS))
    for restart in (FIRST_RESTART_HOURS, *range(RESTART_HOURS, hours, RESTART_HOURS)):
        cluster.add(Restart(begin=restart * HOUR_SECONDS, down_seconds=_DOWN_SECONDS))
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
    now, ticks = start, round(HOUR_SECONDS / TICK_SECONDS)
    share_heap()
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
        configure_log(settings.log)
        tally, clock = Tally(), SteadyClock(lambda: now, lambda: now)
        with Front(settings, tally, clock) as front:
            watch = Watch(settings, tally, clock, front)
            watch.begin()
            with httpx.Client(base_url=f"http://{front.endpoint.address}", trust_env=False, timeout=60.0) as client:
                for hour in track(range(hours), console=console, disable=not console.is_terminal):
                    begun, most = time.process_time(), 0
                    for tick in range(ticks):
                        now += TICK_SECONDS
                        watch.run()
                        front.display.settle(_SETTLE_SECONDS)
                        if tick % _SCRAPES_EVERY == 0:
                            client.get("/metrics").raise_for_status()
                        if tick % _VISITS_EVERY == _VISITS_EVERY - 1:
                            visit(client)
                        most = max(most, _resident_bytes())
                    watch.settle()
                    spent = (time.process_time() - begun) / ticks
                    state, history = (_file_bytes(settings.state.directory / name) for name in (DATABASE, HISTORY))
                    yield Hour(hour + 1, most, state, history, sum(tally.opened.values()), spent)
            watch.finish()


def visit(client: httpx.Client) -> None:
    """Ask for what the page shows of all jobs and of the largest communicator."""

    def ask(name: str, **parameters: str) -> dict[str, Any]:
        answer = client.get(f"/api/v1/{name}", params=parameters).raise_for_status()
        found: dict[str, Any] = json.loads(answer.text)
        return found

    seen = [each for job in ask("status")["jobs"] for each in job["communicators"]]
    for span in ("ticks", "bins"):
        ask("signals", span=span)
        for largest in sorted(seen, key=lambda each: -each["ranks"])[:1]:
            for name in ("heatmap", "ranking"):
                ask(name, comm=largest["comm"], span=span)
    for incident in ask("incidents")["incidents"][:1]:
        ask("incident", id=incident["id"])


def _file_bytes(path: Path) -> int:
    """Of a database, with its log."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


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
    table = Table("hour", "resident MiB", "state MiB", "history MiB", "incidents so far", "processor seconds a tick")
    for each in hours:
        sizes = (each.resident_bytes, each.state_bytes, each.history_bytes)
        table.add_row(
            str(each.hour), *(f"{size / 2**20:.1f}" for size in sizes), str(each.incidents), f"{each.tick_seconds:.3f}"
        )
    Console().print(table)
    word = "met" if passed else "MISSED"
    Console().print(f"resident memory grew by {growth:.1%} after the first hour; bar {MOST_GROWTH:.0%}: {word}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
