import pytest
from cluster.job import Job
from servers.memory import MemorySource

from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.view import look
from sentinel.errors import SourceError

SETTINGS = Settings(schedule=ScheduleSettings.model_validate({"tick": "30s", "prime_ticks": 20}))
START = 1_700_000_010.0


def test_it_sees_what_the_daemon_would_see() -> None:
    job = Job(tick_seconds=30.0, start=START, comm_name="dp", job_id="4711")
    snapshots = list(job.ticks(20))
    job.silent = {5}
    snapshots += job.ticks(1)
    view = look(MemorySource(snapshots), SETTINGS, None, START + 21 * 30 + 6)
    assert view.time == START + 630
    (communicator,) = view.communicators
    assert (communicator.comm, communicator.comm_name, communicator.job_id) == ("00000000000000aa", "dp", "4711")
    assert (communicator.ranks, communicator.nranks) == (7, 8)
    assert communicator.state in {"learning", "watching"}  # warmed up: neither `warming` nor `unknown`


def test_a_source_that_is_down_is_an_error() -> None:
    source = MemorySource([])
    source.down = True
    with pytest.raises(SourceError):
        look(source, SETTINGS, None, START)
