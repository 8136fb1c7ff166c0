from pathlib import Path

from cluster.job import Job
from servers.incidents import incident
from servers.memory import MemorySource

from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.learning import learn_baseline
from sentinel.daemon.learnt import load_baseline
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

SETTINGS = Settings(schedule=ScheduleSettings.model_validate({"tick": "30s"}))
START = 1_700_000_010.0


def ignore(done: int, total: int) -> None:
    pass


def test_known_incidents_are_left_out(tmp_path: Path) -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START).ticks(40))
    with State.open(tmp_path) as state:
        whole = learn_baseline(source, SETTINGS, state, START + 30, START + 1200, ignore)
        past = incident(started_at=START + 300, ended_at=START + 600)
        state.record(TickRecord(1.0, Outcome.OK, 0.0, 0), [past], 10)
        partial = learn_baseline(source, SETTINGS, state, START + 30, START + 1200, ignore)
        goes_on = incident("other", started_at=START + 900)
        state.record(TickRecord(2.0, Outcome.OK, 0.0, 0), [goes_on], 10)
        least = learn_baseline(source, SETTINGS, state, START + 30, START + 1200, ignore)
    assert [baseline.rows[0].ticks for baseline in (whole, partial, least)] == [39, 29, 19]
    assert (whole.start, whole.end) == (START + 30, START + 1200)


def test_a_stored_baseline_comes_back_as_it_was(tmp_path: Path) -> None:
    source = MemorySource(Job(tick_seconds=30.0, start=START).ticks(40))
    with State.open(tmp_path) as state:
        baseline = learn_baseline(source, SETTINGS, state, START + 30, START + 1200, ignore)
        version = state.add_baseline(START + 1300, baseline.start, baseline.end, baseline.to_bytes())
        learnt = load_baseline(state, ended_by=START + 1200)
        assert learnt is not None
        assert (learnt.version, learnt.built_at, learnt.baseline) == (version, START + 1300, baseline)
        assert load_baseline(state, ended_by=START + 1199) is None
