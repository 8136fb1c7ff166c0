import pickle
from pathlib import Path

import pytest
from cluster.job import Job
from servers.memory import MemorySource
from simulator.cluster import Cluster
from simulator.faults import LateRank, Stall
from simulator.presets import two_level
from simulator.regimes import Restart, ScrapesLost

from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import Replayed, backtest_stretches, run_backtest
from sentinel.daemon.checkpoint_file import (
    Checkpoint,
    check_owner,
    checkpoint_key,
    load_checkpoint,
    save_checkpoint,
)
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import replay
from sentinel.errors import SourceError, StateError
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Vocabulary
from sentinel.state.work_file import WorkFile

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


def lively() -> list[Snapshot]:
    """A job in which much happens, for some stretches."""
    cluster = Cluster(two_level(16), start=START, scrape_moments=3).add(
        ScrapesLost(ratio=0.02),
        LateRank(rank=3, cost_ratio=0.1, begin=3007, end=5807),
        Stall(rank=9, begin=7207, end=7507),
        Restart(begin=8107, down_seconds=100, machines=(1, 0)),
        LateRank(rank=5, cost_ratio=0.2, begin=9007, end=9907),
    )
    return list(cluster.snapshots(360))


def test_what_was_kept_goes_on_as_it_would_have(tmp_path: Path) -> None:
    snapshots = lively()
    span = (START + 120, START + 360 * 30)
    kept: list[bytes] = []
    whole = run_backtest(
        MemorySource(snapshots),
        SETTINGS,
        None,
        *span,
        ignore,
        keep=lambda replayed: kept.append(pickle.dumps(replayed)),
    )
    assert {incident.culprit.ranks for incident in whole.incidents} >= {(3,), (9,), (5,)}
    assert len(kept) == len(backtest_stretches(SETTINGS, *span)) - 1 >= 2
    for data in kept:
        source = MemorySource(snapshots)
        replayed = pickle.loads(data)  # noqa: S301 (written above)
        until = replayed.until
        assert run_backtest(source, SETTINGS, None, *span, ignore, replayed) == whole
        assert min(source.asked) == until + 30


def test_a_checkpoint_is_of_one_range_and_of_one_setting(tmp_path: Path) -> None:
    replayed = Replayed.begin(SETTINGS, None)
    replayed.until = START
    with WorkFile(tmp_path / "work", b"key") as work:
        assert load_checkpoint(work, [START]) is None
        for _ in range(2):
            save_checkpoint(work, Checkpoint(replayed, Vocabulary()))
            replayed.until += 30
        assert load_checkpoint(work, [START]) is None
        found = load_checkpoint(work, [START, START + 30])
        assert found is not None
        assert found.replayed.until == START + 30
        assert len(work.pieces()) == 1
        work.add(b"other", b"no pickle", [])
        assert load_checkpoint(work, [START + 30]) is None
    other = SETTINGS.model_copy(update={"schedule": ScheduleSettings.model_validate({"tick": "15s"})})
    keys = {
        checkpoint_key(SETTINGS, None, START),
        checkpoint_key(other, None, START),
        checkpoint_key(SETTINGS, b"baseline", START),
        checkpoint_key(SETTINGS, None, START + 30),
    }
    assert len(keys) == 4


def test_a_checkpoint_that_others_can_write_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    check_owner(path)
    path.touch(mode=0o600)
    check_owner(path)
    path.chmod(0o620)
    with pytest.raises(StateError, match="others may write it"):
        check_owner(path)
    path.unlink()
    tmp_path.chmod(0o1777)  # they may put SQLite's journal beside it
    with pytest.raises(StateError, match="others may write it"):
        check_owner(path)


def test_no_place_for_a_checkpoint_is_known_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="there is no directory"):
        check_owner(tmp_path / "no" / "directory" / "checkpoint")
