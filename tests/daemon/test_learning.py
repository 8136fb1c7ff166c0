"""Learning stretch by stretch: what is left out, what is kept, and that it does not matter where it was cut short."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from cluster.job import Job
from servers.incidents import incident
from servers.memory import MemorySource
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.presets import two_level
from simulator.regimes import PartialAnswer, Restart, ScrapesLost

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.builder import BaselineBuilder
from sentinel.baseline.measured import MeasuredStretch
from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.learning import make_baseline, plan_learning, read_history, work_key
from sentinel.daemon.learnt import load_baseline
from sentinel.daemon.measuring import Measuring, Task, measure_here
from sentinel.daemon.replay import Progress
from sentinel.errors import SourceError
from sentinel.model.incident import Incident
from sentinel.model.place import Freeze, Place
from sentinel.model.snapshot import Snapshot
from sentinel.source.interface import Source
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord
from sentinel.state.work_file import WorkFile

SETTINGS = Settings(schedule=ScheduleSettings.model_validate({"tick": "30s"}))
START = 1_700_000_010.0
LONG = 300  # ticks: several stretches


def ignore(done: int, total: int) -> None:
    pass


def here(source: Source) -> Measuring:
    return measure_here(lambda: nullcontext(source))


def learn_from(measuring: Measuring, tasks: Sequence[Task], work: WorkFile, progress: Progress = ignore) -> Baseline:
    read_history(measuring, tasks, work, progress)
    told: list[tuple[int, int]] = []
    baseline = make_baseline(tasks, 5, work, lambda *progress: told.append(progress))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] >= len(baseline.rows)
    return baseline


def learn(source: Source, state: State, directory: Path, end: float) -> Baseline:
    with WorkFile(directory / "work", work_key(SETTINGS)) as work:
        tasks = plan_learning(SETTINGS, state, START + 30, end)
        found = learn_from(here(source), tasks, work)
        work.remove()
    return found


def test_known_incidents_are_left_out(tmp_path: Path) -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START, job_id="4711").ticks(40))

    def ticks(state: State) -> int:
        baseline = learn(source, state, tmp_path, START + 1200)
        assert (baseline.start, baseline.end) == (START + 30, START + 1200)
        return baseline.rows[0].ticks

    def record(state: State, *some: Incident) -> None:
        state.record(TickRecord(1.0, Outcome.OK, 0.0, 0), some, 10)

    past = incident(started_at=START + 300, ended_at=START + 600)
    with State.open(tmp_path) as state:
        assert ticks(state) == 39
        record(state, replace(past, id="of another job", culprit=replace(past.culprit, job="4712")))
        assert ticks(state) == 39
        record(state, replace(past, culprit=replace(past.culprit, job="4711")))
        assert ticks(state) == 29
        goes_on = incident("other", started_at=START + 900)
        record(state, replace(goes_on, culprit=replace(goes_on.culprit, job="4711")))
        assert ticks(state) == 19


def test_a_stored_baseline_comes_back_as_it_was(tmp_path: Path) -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START).ticks(40))
    with State.open(tmp_path) as state:
        baseline = learn(source, state, tmp_path, START + 1200)
        version = state.add_baseline(START + 1300, baseline.start, baseline.end, baseline.to_bytes())
        learnt = load_baseline(state, ended_by=START + 1200)
        assert learnt is not None
        assert (learnt.version, learnt.built_at, learnt.baseline) == (version, START + 1300, baseline)
        assert load_baseline(state, ended_by=START + 1199) is None


@pytest.fixture(scope="module")
def lively() -> list[Snapshot]:
    """A job that goes through a lot: it is restarted, and its scrapes are not whole."""
    cluster = Cluster(two_level(16), start=START, scrape_moments=3).add(
        ScrapesLost(ratio=0.02),
        LateRank(rank=3, cost_ratio=0.1, begin=1207, end=1807),
        PartialAnswer(begin=3507, end=3700),
        Restart(begin=4507, down_seconds=100, machines=(1, 0)),
    )
    return list(cluster.snapshots(LONG))


def cut_short(measuring: Measuring, after: int) -> Measuring:
    def measure(tasks: Sequence[Task], progress: Callable[[int], None]) -> Iterator[tuple[Task, MeasuredStretch]]:
        for number, found in enumerate(measuring(tasks, progress)):
            if number == after:
                raise SourceError("cut short")
            yield found

    return measure


def test_stretches_say_what_the_whole_says(lively: list[Snapshot], tmp_path: Path) -> None:
    builder = BaselineBuilder(SETTINGS.detection.baseline)
    for snapshot in lively:
        builder.add(snapshot)
    whole = builder.build()
    with State.open(tmp_path) as state:
        found = learn(MemorySource(lively), state, tmp_path, START + LONG * 30)
        assert len(plan_learning(SETTINGS, state, START + 30, START + LONG * 30)) > 2
    assert len(found.rows) == len(whole.rows) > 0
    for mine, theirs in zip(found.rows, whole.rows, strict=True):
        # Sums are added up in another order.
        assert mine.operations == pytest.approx(theirs.operations, rel=1e-12)
        assert replace(mine, operations=0.0) == replace(theirs, operations=0.0)
    assert (found.start, found.end, found.step_seconds) == (whole.start, whole.end, whole.step_seconds)


def test_what_was_cut_short_goes_on_and_ends_the_same(lively: list[Snapshot], tmp_path: Path) -> None:
    end = START + LONG * 30
    with State.open(tmp_path) as state:
        expected = learn(MemorySource(lively), state, tmp_path, end).to_bytes()
        tasks = plan_learning(SETTINGS, state, START + 30, end)
    measuring = here(MemorySource(lively))
    with WorkFile(tmp_path / "work", b"key") as work, pytest.raises(SourceError, match="cut short"):
        learn_from(cut_short(measuring, 2), tasks, work)
    told: list[tuple[int, int]] = []
    source = MemorySource(lively)
    with WorkFile(tmp_path / "work", b"key") as work:
        found = learn_from(here(source), tasks, work, lambda *progress: told.append(progress))
    assert found.to_bytes() == expected
    done = sum(task.stretch.windows for task in tasks[:2])
    assert told == [(number, LONG) for number in range(done, LONG + 1)]
    assert min(source.asked) >= tasks[2].stretch.primed_from


def test_no_stretch_knows_what_was_read_for_another(lively: list[Snapshot], tmp_path: Path) -> None:
    """Else it would matter which were finished before, and where."""
    sources: list[MemorySource] = []

    def opened() -> AbstractContextManager[Source]:
        sources.append(MemorySource(lively))
        return nullcontext(sources[-1])

    with State.open(tmp_path) as state:
        tasks = plan_learning(SETTINGS, state, START + 30, START + LONG * 30)
    done = [task for task, _ in measure_here(opened)(tasks, lambda _: None)]
    assert done == tasks
    assert [(source.asked[0], source.asked[-1]) for source in sources] == [
        (task.stretch.primed_from, task.stretch.last) for task in tasks
    ]


def test_what_has_become_another_task_is_done_again(lively: list[Snapshot], tmp_path: Path) -> None:
    """An incident that is known meanwhile, or another range, costs the stretches that it touches and no more."""
    end = START + LONG * 30
    with State.open(tmp_path) as state, WorkFile(tmp_path / "work", b"key") as work:
        tasks = plan_learning(SETTINGS, state, START + 30, end)
        learn_from(here(MemorySource(lively)), tasks, work)
        state.record(TickRecord(1.0, Outcome.OK, 0.0, 0), [], 10, [Freeze(Place("node1"), end - 100, end)])
        later = plan_learning(SETTINGS, state, START + 90, end)
        source = MemorySource(lively)
        learn_from(here(source), later, work)
        middle = tasks[1:-1]
        assert {task.identity for task in middle} < {task.identity for task in later}
        assert not [at for at in source.asked if middle[0].stretch.first <= at < later[-1].stretch.primed_from]
        assert set(work.pieces()) == {task.identity for task in later}


def test_what_decides_what_is_read_makes_another_work_file() -> None:
    def key(**prometheus: object) -> bytes:
        return work_key(Settings.model_validate({"prometheus": prometheus}))

    decisive = [
        {},
        {"url": "http://other:9090"},
        {"selector": 'cluster="a"'},
        {"dialect": "inspector"},
        {"scrape_interval": "7s"},
        {"headers": {"X-Scope-OrgID": "a"}},
        {"headers": {"X-Scope-OrgID": "b"}},
        {"username": "a", "password_file": "p"},
    ]
    assert len({key(**each) for each in decisive}) == len(decisive)
    assert key(timeout="7s", retries=0, max_answer="1MiB", ca_file="ca") == key()


def test_a_history_without_series_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    job = Job(tick_seconds=30.0, start=START)
    job.silent = set(range(8))
    with State.open_readonly(tmp_path) as state, pytest.raises(SourceError, match="no nccl_ series"):
        learn(MemorySource(job.ticks(40)), state, tmp_path, START + 1200)
    assert list(tmp_path.iterdir()) == []
