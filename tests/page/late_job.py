"""A job with a late rank, behind a real Prometheus and a daemon that goes on watching it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.job import Job
from page.demo_job import get
from servers.daemon import Daemon, daemon
from servers.metrics_text import openmetrics
from servers.process import wait_until
from servers.prometheus import fill, prometheus

LATE_RANK = 5
JOB_ID = "4711"
_TICK = 15
COMM = "00000000000000aa"
_HEALTHY_TICKS = 38
_LATE_TICKS = 30  # into the time that is still to come, so that it goes on


def beginning() -> float:
    """When such a job begins, Unix seconds: some ticks ago."""
    return time.time() // _TICK * _TICK - 50 * _TICK


@contextmanager
def late_job(
    folder: Path, nranks: int = 8, late_rank: int = LATE_RANK, start: float | None = None
) -> Iterator[tuple[str, Daemon]]:
    """The daemon's address and the daemon, once it has found the late rank. Its state is in `folder`/state."""
    job = Job(
        nranks=nranks,
        tick_seconds=float(_TICK),
        start=beginning() if start is None else start,
        step_seconds=0.1,
        job_id=JOB_ID,
        comm=COMM,
        comm_name="world",
    )
    snapshots = list(job.ticks(_HEALTHY_TICKS))
    job.delay_seconds[late_rank] = 0.02
    fill(folder / "prometheus", openmetrics([*snapshots, *job.ticks(_LATE_TICKS)]))
    with prometheus(folder / "prometheus") as store:
        config = folder / "sentinel.toml"
        config.write_text(
            f'prometheus = {{ url = "{store}" }}\n'
            "alertmanager = { urls = [] }\n"
            f'schedule = {{ tick = "{_TICK}s", evaluation_delay = "1s" }}\n'
            f'state = {{ directory = "{folder / "state"}" }}\n'
            'web = { listen_address = "127.0.0.1:0" }\n'
        )
        with daemon(config) as running:
            running.wait_for("serving")
            (serving,) = (event for event in running.events() if event["event"] == "serving")
            url = f"http://{serving['address']}"
            wait_until(lambda: bool(get(url, "incidents")["incidents"]), "the late rank is found", 60.0)
            yield url, running
