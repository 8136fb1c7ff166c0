import pytest
from cluster.job import Job
from servers.incidents import incident
from servers.memory import MemorySource

from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.course import narrowed, read_course
from sentinel.errors import SourceError

SETTINGS = Settings(schedule=ScheduleSettings.model_validate({"tick": "30s"}))
START = 1_700_000_010.0


def ignore(done: int, total: int) -> None:
    pass


def history(ticks: int = 60) -> MemorySource:
    job = Job(tick_seconds=30.0, start=START)
    snapshots = list(job.ticks(30))
    job.delay_seconds[3] = 0.002
    snapshots += job.ticks(10)
    job.delay_seconds[3] = 0.0
    return MemorySource([*snapshots, *job.ticks(ticks - 40)])


def test_from_before_the_incident_until_after_it() -> None:
    told: list[tuple[int, int]] = []
    late = incident(started_at=START + 900, detected_at=START + 960, ended_at=START + 1200)
    found = read_course(history(), SETTINGS, late, START + 1805, lambda *done: told.append(done))
    times, (cell, _) = found.course.times, found.course.cells
    assert (times[0], times[-1], found.step_seconds) == (START + 300, START + 1500, 30.0)
    assert told == [(done, 41) for done in range(1, 42)]
    assert found.course.ranks == (3,)
    lateness = cell.lateness_seconds.culprits[1:, 0]
    during = (times[1:] > START + 900) & (times[1:] <= START + 1200)
    assert lateness[during] == pytest.approx(0.002, abs=0.0001)
    assert lateness[~during] == pytest.approx(0.0, abs=0.0001)
    assert found.partial == 0


def test_one_that_goes_on_is_read_until_now() -> None:
    found = read_course(history(), SETTINGS, incident(started_at=START + 900), START + 1240, ignore)
    assert found.course.times[-1] == START + 1230


def test_a_long_one_is_read_in_longer_windows() -> None:
    source = history(1)
    source.down = True
    with pytest.raises(SourceError, match="it is down"):
        read_course(source, SETTINGS, incident(started_at=START), START + 86_400 * 30, ignore)

    class Steps(MemorySource):
        def snapshots(self, start: float, end: float, step: float):
            self.asked = [start, end, step]
            return iter(())

    steps = Steps([])
    with pytest.raises(SourceError):
        read_course(steps, SETTINGS, incident(started_at=START), START + 86_400 * 30, ignore)
    first, last, step = steps.asked
    assert (last - first) / step <= 400
    assert step % 30 == first % step == last % step == 0
    assert first < START
    assert START + 86_400 * 30 - last < step + 30


def test_what_the_store_no_longer_has_is_an_error_that_says_so() -> None:
    gone = incident(started_at=START + 900, ended_at=START + 1200)
    other = Job(tick_seconds=30.0, start=START, comm="00000000000000bb")
    with pytest.raises(SourceError, match="has no operations of communicator 00000000000000aa in that time") as caught:
        read_course(MemorySource(other.ticks(60)), SETTINGS, gone, START + 1805, ignore)
    assert "older than the store keeps" in str(caught.value)
    assert caught.value.exit_code == 3


def test_only_one_communicator_is_asked_about() -> None:
    settings = PrometheusSettings()
    assert narrowed(settings, "00aa").selector == 'comm="00aa"'
    both = narrowed(PrometheusSettings(selector='cluster="a"'), "00aa")
    assert PrometheusSettings.model_validate(both.model_dump()).selector == 'cluster="a",comm="00aa"'
