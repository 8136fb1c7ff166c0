from dataclasses import replace
from pathlib import Path

from servers.incidents import incident

from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.incident import FormerTier, Tier
from sentinel.model.place import Freeze, Place
from sentinel.state.store import BaselineVersion, State
from sentinel.state.tick import Outcome, TickRecord


def tick(time: float, outcome: Outcome = Outcome.OK, error: str = "") -> TickRecord:
    return TickRecord(time, outcome, 0.25, 1, error)


def test_an_incident_comes_back_as_it_was(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [incident()], 10)
    with State.open(tmp_path) as state:
        assert state.open_incidents() == [incident()]
        assert state.last_tick() == tick(1.0)


def test_identity_and_start_are_written_once(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [incident()], 10)
        later = incident(cost_ratio=0.5, victims=9, evidence={"n": 1}, started_at=5.0, detected_at=6.0, ended_at=7.0)
        state.record(tick(2.0), [later], 10)
        (stored,) = state.incident("76")
        assert (stored.cost_ratio, stored.victims, stored.evidence, stored.ended_at) == (0.5, 9, {"n": 1}, 7.0)
        assert (stored.started_at, stored.detected_at) == (incident().started_at, incident().detected_at)


def test_a_tier_that_rose_and_a_recurrence_are_kept(tmp_path: Path) -> None:
    risen = incident(tier=Tier.P0, former_tiers=(FormerTier(Tier.P2, 3.5), FormerTier(Tier.P1, 4.0)), recurrences=2)
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [incident(ended_at=2.0)], 10)
        state.record(tick(2.0), [risen], 10)
    with State.open(tmp_path) as state:
        assert state.open_incidents() == [risen]


def test_what_else_is_known_of_an_incident_is_kept(tmp_path: Path) -> None:
    note = ContextNote(Effect.FREEZE, {"alertname": "NodeDown", "odd": 'a"b\n\0'}, 3.5, 4.5)
    known = incident(context=(note, replace(note, ended_at=None)), silenced_by=(Silence("5e1f", "ops", "é", 99.0),))
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [incident()], 10)
        state.record(tick(2.0), [known], 10)
    with State.open(tmp_path) as state:
        assert state.open_incidents() == [known]


def test_freezes_grow_until_they_end_and_are_forgotten_after_90_days(tmp_path: Path) -> None:
    one, other = Place("n1"), Place("n1", gpu="3", job_id="4711")
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [], 10, [Freeze(one, 0.5, 1.0)])
        state.record(tick(2.0), [], 10, [Freeze(one, 0.5, 2.0), Freeze(other, 1.5, 2.0)])
        state.record(tick(3.0), [], 10, [Freeze(one, 0.5, 1.0)])  # an instant that is caught up with
        assert state.freezes_since(0.0) == [Freeze(one, 0.5, 2.0), Freeze(other, 1.5, 2.0)]
        assert state.freezes_since(2.0) == []
        later = 91 * 86_400.0
        state.record(tick(later), [], 10, [Freeze(one, later, later)])
        assert state.freezes_since(0.0) == [Freeze(one, later, later)]


def test_of_incidents_that_ended_the_newest_are_kept_and_all_that_go_on(tmp_path: Path) -> None:
    ended = [incident(f"{number:012x}", started_at=1.0, ended_at=2.0 + number) for number in range(10_003)]
    going_on = incident("ff", started_at=0.5)
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [*ended, going_on], 10)
        assert state.incidents_since(0.0) == [going_on, *ended[3:]]
        assert state.open_incidents() == [going_on]


def test_incidents_by_time_and_by_id(tmp_path: Path) -> None:
    first = incident("aa11", started_at=10.0, ended_at=20.0)
    second = incident("aa22", started_at=15.0, ended_at=40.0)
    third = incident("bb33", started_at=5.0)
    with State.open(tmp_path) as state:
        state.record(tick(1.0), [first, second, third], 10)
        assert state.open_incidents() == [third]
        assert state.incidents_since(20.0) == [third, second]
        assert state.incidents_since(19.0) == [third, first, second]
        assert state.incident("aa") == [first, second]
        assert state.incident("aa22") == [second]
        assert state.incident("%") == state.incident("cc") == []


def test_only_the_newest_ticks_are_kept(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        for time in range(10):
            state.record(tick(float(time)), [], 3)
        assert [row[0] for row in state._rows("SELECT time FROM ticks ORDER BY time", ())] == [7.0, 8.0, 9.0]


def test_a_tick_that_is_caught_up_replaces_its_failure(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        state.record(tick(1.0, Outcome.SOURCE_ERROR, "down"), [], 3)
        assert state.last_tick() == tick(1.0, Outcome.SOURCE_ERROR, "down")
        state.record(tick(1.0), [], 3)
        assert state.last_tick() == tick(1.0)


def test_baselines_are_numbered_and_found_by_what_they_know(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        assert state.add_baseline(100.0, 0.0, 50.0, b"first") == 1
        assert state.add_baseline(200.0, 0.0, 150.0, b"second") == 2
        assert state.baseline().data == b"second"
        assert state.baseline(1).data == b"first"
        assert state.baseline(3) is None
        assert state.baseline(ended_by=149.0).version == 1
        assert state.baseline(ended_by=150.0).version == 2
        assert state.baseline(ended_by=49.0) is None
        assert state.baseline_versions() == [
            BaselineVersion(2, 200.0, 0.0, 150.0, len(b"second")),
            BaselineVersion(1, 100.0, 0.0, 50.0, len(b"first")),
        ]


def test_readers_see_what_a_daemon_writes(tmp_path: Path) -> None:
    with State.open(tmp_path) as writer, State.open_readonly(tmp_path) as reader:
        assert reader.open_incidents() == []
        writer.record(tick(1.0), [incident()], 10)
        assert reader.open_incidents() == [incident()]


def test_before_the_first_start_all_is_empty(tmp_path: Path) -> None:
    with State.open_readonly(tmp_path / "none") as state:
        assert state.open_incidents() == state.incidents_since(0.0) == state.incident("a") == []
        assert state.last_tick() is state.baseline() is None
        assert state.baseline_versions() == []
    assert not (tmp_path / "none").exists()
