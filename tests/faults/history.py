"""What the store holds in every fault: a job in which one rank is late for a while, up to a minute from now.

Alertmanager goes by the real time: an alert that the daemon sends as of a time that is long ago must not have ended.
With `RESEND` it lives for an hour after that, and the whole incident lies in the last hour. A daemon whose clock is an
hour behind sends what has ended already.
"""

import time
from dataclasses import dataclass
from typing import Final

from cluster.job import Job
from servers.metrics_text import openmetrics

TICK_SECONDS: Final = 30
RESEND: Final = "15m"
LATE_RANK: Final = 3
FIRST, LATE, WELL, LAST = 136, 141, 181, 210
"""Ticks: a daemon is started, the first that is late, the first that is not any more, the last there is."""


@dataclass(frozen=True)
class History:
    """`start` is the instant of tick 0, Unix seconds; `text` is for `servers.prometheus.fill`."""

    start: float
    text: str

    def instant(self, tick: float) -> float:
        return self.start + tick * TICK_SECONDS

    @property
    def well_at(self) -> float:
        """When the rank stopped being late."""
        return self.instant(WELL - 1)


def make_history() -> History:
    start = time.time() // TICK_SECONDS * TICK_SECONDS - 60.0 - LAST * TICK_SECONDS
    job = Job(tick_seconds=float(TICK_SECONDS), start=start, step_seconds=0.1, job_id="4711", comm_name="dp")
    snapshots = list(job.ticks(LATE - 1))
    job.delay_seconds[LATE_RANK] = 0.02
    snapshots += job.ticks(WELL - LATE)
    job.delay_seconds[LATE_RANK] = 0.0
    snapshots += job.ticks(LAST - WELL + 1)
    return History(start, openmetrics(snapshots))
