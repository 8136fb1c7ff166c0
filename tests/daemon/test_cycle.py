"""Ticks without servers: a simulated job, a clock of our own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cluster.job import Job
from servers.memory import MemorySource
from servers.recorder import RecordingSink

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.detection import DetectionSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import run_backtest
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.cycle import Cycle, Report
from sentinel.daemon.dispatch import Dispatch
from sentinel.daemon.tally import Tally
from sentinel.detect.detector import Detector
from sentinel.errors import SinkError, SourceError, StateError
from sentinel.history.look import Look
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Tier, Verdict
from sentinel.model.instant import format_instant
from sentinel.model.snapshot import Snapshot
from sentinel.sink.alert import AlertWriter
from sentinel.sink.interface import Receipt
from sentinel.state.store import State
from sentinel.state.tick import Outcome

TICK = 30.0
START = 1_700_000_010.0  # a multiple of the tick
HEALTHY = 40
LATE = 20
SCHEDULE = ScheduleSettings.model_validate({"tick": "30s", "evaluation_delay": "5s", "prime_ticks": 20})
DETECTION = DetectionSettings()


@pytest.fixture(scope="module")
def snapshots() -> list[Snapshot]:
    """40 healthy ticks, 20 with rank 3 late by a millisecond, 20 healthy again."""
    job = Job(tick_seconds=TICK, start=START, step_seconds=0.1)
    found = list(job.ticks(HEALTHY))
    job.delay_seconds[3] = 0.02
    found += job.ticks(LATE)
    job.delay_seconds[3] = 0.0
    return [*found, *job.ticks(20)]


class Rig:
    """A daemon's inside, at the tick of our choice."""

    def __init__(self, snapshots: list[Snapshot], directory: Path) -> None:
        self.source = MemorySource(snapshots)
        self.sink = RecordingSink()
        self.tally = Tally()
        self.now = 0.0
        self.directory = directory
        self.state = State.open(directory)
        self.new_detector: Callable[[], Detector] = lambda: Detector(DETECTION)
        self.cycle = self.build()

    def build(self) -> Cycle:
        writer = AlertWriter(AlertmanagerSettings(), PrometheusSettings(), TICK)
        known = self.state.incidents_since(self.now - 900)
        return Cycle(
            schedule=SCHEDULE,
            source=self.source,
            new_detector=lambda: self.new_detector(),
            tracker=IncidentTracker(DETECTION, self.state.incidents_since(self.now - 600)),
            dispatch=Dispatch(writer, self.sink, known, 60.0, TICK),
            state=self.state,
            keep_ticks=1000,
            tally=self.tally,
            clock=SteadyClock(lambda: self.now, lambda: self.now),
            monotonic=lambda: 0.0,
        )

    def run(self, tick: int, seconds_late: float = 0.3) -> Report:
        """The tick that looks at the snapshot of that number (from 1)."""
        self.now = START + tick * TICK + 5.0 + seconds_late
        return self.cycle.run()


@pytest.fixture
def rig(snapshots: list[Snapshot], tmp_path: Path) -> Rig:
    return Rig(snapshots, tmp_path)


def test_the_first_tick_is_primed_and_looks_at_the_newest_instant(rig: Rig) -> None:
    report = rig.run(21)
    assert report == Report(())
    assert rig.source.asked == [START + tick * TICK for tick in range(1, 22)]
    assert rig.state.last_tick().time == START + 21 * TICK
    assert rig.tally.ticks == {Outcome.OK: 1}


def test_an_incident_opens_is_told_kept_and_ends(rig: Rig) -> None:
    reports = {tick: rig.run(tick) for tick in range(35, 75)}
    assert not reports[HEALTHY].open_incidents
    (found,) = reports[HEALTHY + 4].open_incidents
    assert found.culprit.ranks == (3,)
    assert found.detected_at <= START + (HEALTHY + 3) * TICK
    assert all([one.id for one in reports[tick].open_incidents] == [found.id] for tick in range(HEALTHY + 4, 60))
    assert not reports[70].open_incidents
    (stored,) = rig.state.incidents_since(0.0)
    assert (stored.id, stored.started_at) == (found.id, found.started_at)
    assert stored.ended_at is not None
    assert {alert.labels["rank"] for alerts in rig.sink.sent for alert in alerts} == {"3"}
    assert len({alert.starts_at for alerts in rig.sink.sent for alert in alerts}) == 1


def test_what_happened_is_counted(rig: Rig) -> None:
    for tick in range(35, 75):
        rig.run(tick)
        if tick == HEALTHY + 4:
            assert rig.tally.open_incidents == {(Verdict.LATE_RANK, Tier.P1): 1}
    assert rig.tally.opened == {Verdict.LATE_RANK: 1}
    assert rig.tally.open_incidents == {}
    assert rig.tally.communicators["watching"] == 1
    assert sum(rig.tally.communicators.values()) == 1
    assert rig.tally.last_good == (START + 74 * TICK, 0.0)
    buckets, _ = rig.tally.tick_seconds.read()
    assert buckets[-1] == ("+Inf", 40.0)
    assert START < rig.tally.delivered_at["http://recorder"] <= rig.now
    assert rig.tally.heartbeat_sent_at is None  # this one has none


def test_a_failed_tick_is_no_good_one(rig: Rig) -> None:
    rig.run(41)
    rig.source.down = True
    rig.run(42)
    assert rig.tally.last_good == (START + 41 * TICK, 0.0)
    buckets, _ = rig.tally.tick_seconds.read()
    assert buckets[-1] == ("+Inf", 2.0)


def test_live_and_backtest_agree(rig: Rig, snapshots: list[Snapshot]) -> None:
    for tick in range(21, 80):
        rig.run(tick)
    live = rig.state.incidents_since(0.0)
    settings = Settings(schedule=SCHEDULE, detection=DETECTION)
    start, end = START + 21 * TICK, START + 79 * TICK
    replayed = run_backtest(MemorySource(snapshots), settings, None, start, end, lambda done, total: None)
    assert list(replayed.incidents) == live
    assert len(live) == 1
    assert (replayed.start, replayed.end, replayed.ticks) == (start, end, 59)


@pytest.mark.parametrize("outage", [range(42, 45), range(30, 50), range(58, 66)])
def test_ticks_missed_in_an_outage_are_made_up_for(
    rig: Rig, snapshots: list[Snapshot], outage: range, tmp_path: Path
) -> None:
    """Whatever the outage, the incidents are the same as without it, to the second."""
    (tmp_path / "whole").mkdir()
    whole = Rig(snapshots, tmp_path / "whole")
    for tick in range(21, 80):
        whole.run(tick)
        rig.source.down = tick in outage
        report = rig.run(tick)
        assert isinstance(report.error, SourceError) == rig.source.down
    assert rig.state.incidents_since(0.0) == whole.state.incidents_since(0.0)
    assert rig.tally.instants_caught_up == rig.tally.ticks[Outcome.SOURCE_ERROR] == len(outage)
    assert rig.tally.ticks[Outcome.OK] == 59
    assert rig.tally.instants_given_up == 0


def test_what_was_missed_too_long_ago_is_given_up(rig: Rig) -> None:
    rig.run(21)
    rig.run(60)
    assert rig.tally.instants_caught_up == SCHEDULE.catch_up_ticks
    assert rig.tally.instants_given_up == 60 - 21 - 1 - SCHEDULE.catch_up_ticks


def test_while_the_source_fails_alerts_stay_alive(rig: Rig) -> None:
    for tick in range(35, 46):
        rig.run(tick)
    sent = len(rig.sink.sent)
    rig.source.down = True
    reports = [rig.run(tick) for tick in range(46, 56)]
    assert len(rig.sink.sent) == sent + 5  # once a minute
    for alerts in rig.sink.sent[sent:]:
        assert [alert.labels["rank"] for alert in alerts] == ["3"]
        assert alerts[0].ends_at > alerts[0].starts_at
    assert all(len(report.open_incidents) == 1 for report in reports)
    assert rig.state.last_tick().outcome is Outcome.SOURCE_ERROR
    assert "it is down" in rig.state.last_tick().error


def test_a_source_that_is_down_at_the_start_is_waited_for(rig: Rig) -> None:
    rig.source.down = True
    assert isinstance(rig.run(41).error, SourceError)
    rig.source.down = False
    assert rig.run(42).error is None
    assert len(rig.run(43).open_incidents) == 1


def test_a_restart_goes_on_with_the_same_incident(rig: Rig) -> None:
    for tick in range(35, 50):
        before = rig.run(tick)
    rig.state.close()
    rig.state = State.open(rig.directory)
    rig.cycle = rig.build()
    after = rig.run(50)
    assert [one.id for one in after.open_incidents] == [one.id for one in before.open_incidents]
    assert [one.started_at for one in after.open_incidents] == [one.started_at for one in before.open_incidents]
    assert len(rig.state.incidents_since(0.0)) == 1
    for tick in range(51, 72):
        after = rig.run(tick)
    assert after.open_incidents == ()


def test_two_runs_at_one_instant_look_once(rig: Rig) -> None:
    rig.run(21)
    asked = len(rig.source.asked)
    rig.run(21, seconds_late=10.0)
    rig.run(20)  # the clock was set back
    assert len(rig.source.asked) == asked
    assert rig.run(22).error is None
    assert len(rig.source.asked) == asked + 1


def test_an_alertmanager_that_is_down_costs_nothing_but_the_telling(rig: Rig) -> None:
    rig.sink.receipt = Receipt.UNREACHABLE
    for tick in range(35, 46):
        report = rig.run(tick)
    assert isinstance(report.error, SinkError)
    assert len(rig.state.open_incidents()) == 1
    assert rig.tally.deliveries["http://recorder", Receipt.UNREACHABLE] == len(rig.sink.sent) > 2


def test_a_state_that_cannot_be_written_stops_nothing_and_is_made_up_for(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = State.record
    broken = range(38, 50)
    for tick in range(35, 52):
        if tick == broken.start:
            monkeypatch.setattr(State, "record", _disk_full)
        if tick == broken.stop:
            monkeypatch.setattr(State, "record", record)
        report = rig.run(tick)
        assert isinstance(report.error, StateError) == (tick in broken)
    assert rig.sink.sent
    assert rig.tally.state_errors == len(broken)
    assert rig.state.open_incidents() == list(report.open_incidents)
    assert len(report.open_incidents) == 1


def _disk_full(*args: object) -> None:
    raise StateError("cannot use the state database", why="database or disk is full")


def test_a_detector_that_fails_does_so_once_per_instant_and_resolves_nothing(rig: Rig) -> None:
    for tick in range(35, 46):
        rig.run(tick)

    step = rig.cycle._detector.step
    rig.cycle._detector.step = _broken
    report = rig.run(46)
    assert isinstance(report.error, ZeroDivisionError)
    assert len(report.open_incidents) == 1
    rig.cycle._detector.step = step
    assert rig.run(47).error is None
    assert rig.source.asked[-2:] == [START + 46 * TICK, START + 47 * TICK]
    assert rig.tally.ticks[Outcome.ERROR] == 1


def _broken(snapshot: Snapshot, frozen: frozenset[int]) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("restart_after", [5, 18, 25, 60])
def test_a_restart_neither_ends_nor_learns_a_fault_that_goes_on(tmp_path: Path, restart_after: int) -> None:
    # Three ranks: too few for the peers alone to show that something is wrong.
    job = Job(nranks=3, tick_seconds=TICK, start=START, step_seconds=0.1)
    snapshots = list(job.ticks(40))
    job.delay_seconds[2] = 0.02
    rig = Rig([*snapshots, *job.ticks(100)], tmp_path)
    for tick in range(35, 45 + restart_after):
        rig.run(tick)
    (before,) = rig.state.incidents_since(0.0)
    rig.cycle = rig.build()
    for tick in range(45 + restart_after, 45 + restart_after + 20):
        (after,) = rig.run(tick).open_incidents
        assert (after.id, after.started_at) == (before.id, before.started_at)


def test_a_fault_that_grows_rises_a_tier_once_whatever_restart(tmp_path: Path) -> None:
    job = Job(tick_seconds=TICK, start=START, step_seconds=0.1)
    snapshots = list(job.ticks(40))
    job.delay_seconds[3] = 0.002
    snapshots += job.ticks(15)
    job.delay_seconds[3] = 0.03
    rig = Rig([*snapshots, *job.ticks(45)], tmp_path)
    seen = []
    for tick in range(35, 98):
        seen += rig.run(tick).open_incidents
        rig.state.close()
        rig.state = State.open(tmp_path)
        rig.cycle = rig.build()
    assert len({(one.id, one.started_at) for one in seen}) == 1
    tiers = [one.tier for one in seen]
    assert tiers == sorted(tiers, reverse=True)
    assert set(tiers) == {Tier.P2, Tier.P1}
    (former,) = seen[-1].former_tiers
    resolved = {
        (alert.labels["tier"], alert.ends_at) for alerts in rig.sink.sent for alert in alerts if len(alerts) > 1
    }
    assert ("P2", format_instant(former.until)) in resolved
    assert {alert.starts_at for alerts in rig.sink.sent for alert in alerts} == {format_instant(seen[0].started_at)}


def test_a_fault_in_bursts_is_one_incident_whatever_restart(tmp_path: Path) -> None:
    job = Job(tick_seconds=TICK, start=START, step_seconds=0.1)
    snapshots = list(job.ticks(40))
    for _ in range(4):
        job.delay_seconds[3] = 0.02
        snapshots += job.ticks(5)
        job.delay_seconds[3] = 0.0
        snapshots += job.ticks(10)
    rig = Rig([*snapshots, *job.ticks(40)], tmp_path)
    for tick in range(35, 138):
        rig.run(tick)
        if tick in (47, 52, 62, 110):  # after an end, after a return, in a gap, near the end
            rig.state.close()
            rig.state = State.open(tmp_path)
            rig.cycle = rig.build()
    (one,) = rig.state.incidents_since(0.0)
    assert one.recurrences == 1
    assert one.ended_at is not None
    assert START + 90 * TICK < one.ended_at <= START + 99 * TICK
    assert {alert.starts_at for alerts in rig.sink.sent for alert in alerts} == {format_instant(one.started_at)}


def test_what_a_tick_saw_is_shown_with_the_incidents_after_it(rig: Rig) -> None:
    looks: list[Look] = []
    rig.cycle._show = looks.append
    for tick in range(35, HEALTHY + 6):
        rig.run(tick)
    assert [look.snapshot.time for look in looks] == [START + tick * TICK for tick in range(35, HEALTHY + 6)]
    assert all(look.lateness is not None for look in looks)
    assert not looks[0].incidents
    assert [incident.culprit.ranks for incident in looks[-1].incidents] == [(3,)]
    rig.source.down = True
    rig.run(HEALTHY + 6)
    assert len(looks) == HEALTHY + 6 - 35
