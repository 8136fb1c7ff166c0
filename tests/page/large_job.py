"""A day of a job with 1,024 ranks in four communicators, behind a daemon that goes on watching it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from cluster.job import Job
from page.demo_job import get
from servers.daemon import daemon
from servers.metrics_text import openmetrics
from servers.process import wait_until
from servers.prometheus import fill, prometheus

from sentinel.history.archive import Archive
from sentinel.history.column import Column, RankMeans
from sentinel.history.record import Added
from sentinel.history.roster import Place, Roster
from sentinel.history.strip import BIN_SECONDS, Span

RANKS = 1024
LATE_RANK = 517
COMM = "00000000000000aa"
COMMS = (COMM, "00000000000000bb", "00000000000000cc", "00000000000000dd")
_JOB_ID = "4711"
_TICK = 15
_HOURS = 24
_LATE_HOURS = 3


@contextmanager
def large_job(folder: Path) -> Iterator[str]:
    """The daemon's address, once it has found the late rank."""
    start = time.time() // _TICK * _TICK - 50 * _TICK
    fill_history(folder / "state", start)
    job = Job(
        nranks=RANKS,
        tick_seconds=float(_TICK),
        start=start,
        step_seconds=0.1,
        job_id=_JOB_ID,
        comm=COMM,
        comm_name="world",
    )
    snapshots = list(job.ticks(38))
    job.delay_seconds[LATE_RANK] = 0.02
    fill(folder / "prometheus", openmetrics([*snapshots, *job.ticks(30)]))
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
            yield url


def fill_history(directory: Path, end: float) -> None:
    """What a daemon would have kept of the time before `end`."""
    directory.mkdir(parents=True)
    random = np.random.default_rng(7)
    ranks = np.arange(RANKS, dtype=np.int32)
    places = {rank: Place(rank, f"gpu-{rank // 8:03}", str(rank % 8)) for rank in range(RANKS)}
    rosters = [Roster(comm, name, _JOB_ID, _JOB_ID, RANKS, places) for comm, name in zip(COMMS, _NAMES, strict=True)]
    usual = random.normal(0.0, 20e-6, RANKS)

    def column(moment: float) -> Column:
        late = usual + random.normal(0.0, 30e-6, RANKS)
        if moment > end - _LATE_HOURS * 3600.0:
            late[LATE_RANK] += 1e-3
        return Column(
            moment, "watching", 0, RankMeans(ranks, late.astype(np.float32), (2e-3 - late).astype(np.float32))
        )

    archive, span = Archive(directory), Span(ticks_seconds=600.0)
    for number in range(-_HOURS * 12, 1):
        moment = (end // BIN_SECONDS + number) * BIN_SECONDS
        added = [Added(comm, column(moment), [column(moment)], None) for comm in COMMS]
        archive.write(added, rosters, moment, span, 64 << 20)
    archive.close()


_NAMES = ("world", "tensor", "pipeline", "data")
