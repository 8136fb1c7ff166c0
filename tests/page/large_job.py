"""A day of a job with 1,024 ranks in four communicators, behind a daemon that goes on watching it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from page.late_job import COMM, JOB_ID, beginning, late_job

from sentinel.history.archive import Archive
from sentinel.history.column import Column, RankMeans
from sentinel.history.record import Added
from sentinel.history.roster import Place, Roster
from sentinel.history.strip import BIN_SECONDS, Span

RANKS = 1024
LATE_RANK = 517
COMMS = (COMM, "00000000000000bb", "00000000000000cc", "00000000000000dd")
_HOURS = 24
_LATE_HOURS = 3


@contextmanager
def large_job(folder: Path) -> Iterator[str]:
    """The daemon's address, once it has found the late rank."""
    start = beginning()
    fill_history(folder / "state", start)
    with late_job(folder, RANKS, LATE_RANK, start) as (url, _):
        yield url


def fill_history(directory: Path, end: float) -> None:
    """What a daemon would have kept of the time before `end`."""
    directory.mkdir(parents=True)
    random = np.random.default_rng(7)
    ranks = np.arange(RANKS, dtype=np.int32)
    places = {rank: Place(rank, f"gpu-{rank // 8:03}", str(rank % 8)) for rank in range(RANKS)}
    rosters = [Roster(comm, name, JOB_ID, JOB_ID, RANKS, places) for comm, name in zip(COMMS, _NAMES, strict=True)]
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
