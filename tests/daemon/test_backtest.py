import pytest
from cluster.job import Job
from servers.memory import MemorySource

from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import run_backtest
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import replay
from sentinel.errors import SourceError

SETTINGS = Settings(schedule=ScheduleSettings.model_validate({"tick": "30s", "prime_ticks": 3}))
START = 1_700_000_010.0


def ignore(done: int, total: int) -> None:
    pass


def test_ticks_before_the_range_warm_up_and_are_not_judged() -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START).ticks(20))
    outcome = run_backtest(source, SETTINGS, None, START + 130, START + 601, ignore)
    assert (outcome.start, outcome.end, outcome.ticks) == (START + 150, START + 600, 16)
    assert source.asked[0] == START + 60
    assert outcome.incidents == ()


def test_progress_is_told_of_every_instant() -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START).ticks(10))
    told: list[tuple[int, int]] = []
    list(
        replay(
            source, Instants(SETTINGS.schedule), START + 30, START + 300, lambda done, total: told.append((done, total))
        )
    )
    assert told == [(done, 10) for done in range(1, 11)]


def test_a_history_without_series_is_an_error() -> None:
    job = Job(tick_seconds=30.0, start=START)
    job.silent = set(range(8))
    source = MemorySource(job.ticks(10))
    with pytest.raises(SourceError, match="no nccl_ series") as caught:
        run_backtest(source, SETTINGS, None, START + 120, START + 300, ignore)
    assert "nccl-exporter" in caught.value.hint
    assert "2023-11-14T22:15:30.000Z to 2023-11-14T22:18:30.000Z" in caught.value.where


def test_a_range_between_two_ticks_is_an_error() -> None:
    with pytest.raises(SourceError, match="no multiple of the tick"):
        run_backtest(MemorySource([]), SETTINGS, None, START + 1, START + 29, ignore)


def test_partial_answers_are_counted() -> None:
    job = Job(tick_seconds=30.0, start=START)
    snapshots = list(job.ticks(8))
    job.warnings = ("one store did not answer",)
    snapshots += job.ticks(2)
    outcome = run_backtest(MemorySource(snapshots), SETTINGS, None, START + 150, START + 300, ignore)
    assert outcome.partial_ticks == 2
