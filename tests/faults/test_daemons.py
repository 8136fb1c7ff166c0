"""The daemon itself is killed, hangs, or is there twice."""

import random
import time
from pathlib import Path

import pytest
from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, WELL, History
from faults.lives import lives
from servers.proxy import proxy, takes

from sentinel.detect.detector import Detector
from sentinel.model.incident import Assessment
from sentinel.model.snapshot import Snapshot
from sentinel.state.tick import Outcome

OPENED = LATE + 5
KILLS = 50
LIFE_SECONDS = 0.4
"""At most: starting takes a third of that, a tick a tenth."""


def test_it_is_killed_fifty_times_while_an_incident_goes_on(
    new_station: NewStation,
    new_ledger: NewLedger,
    history: History,
    store: str,
    replicas: list[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    ledger = new_ledger(new_station(directory=tmp_path, started=False))
    instants = random.Random(1)  # noqa: S311 (to be the same each time)
    tick = LATE
    with lives(tmp_path, history, store, replicas, request.node.name) as daemons:
        for _ in range(KILLS):
            process_id = daemons.live(tick, tick + 1)
            time.sleep(instants.uniform(0.0, LIFE_SECONDS))  # the instant of its death, whatever it does then
            tick = min(daemons.kill(process_id) or tick, WELL - 2)
        assert daemons.killed == KILLS
        daemons.finish(tick, WELL - 1)
        ledger.wait_for("firing")
        daemons.finish(WELL, LAST)
        ledger.wait_for("firing", "resolved")


def test_two_daemons_on_the_same_data(new_station: NewStation, new_ledger: NewLedger, tmp_path: Path) -> None:
    """Each with a state of its own; the second is started later, and knows of no more than what the store does."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = (new_station(directory=tmp_path / name, started=False) for name in ("first", "second"))
    ledger = new_ledger(first)
    first.open()
    first.run_to(LATE - 2)
    second.open()
    second.pass_to(LATE - 2)
    for last, told in ((WELL - 1, ["firing"]), (LAST, ["firing", "resolved"])):
        found = [station.run_to(last).open_incidents for station in (first, second)]
        assert [(each.id, each.started_at, each.culprit) for each in found[0]] == [
            (each.id, each.started_at, each.culprit) for each in found[1]
        ]
        ledger.wait_for(*told)


def test_a_source_that_hangs_is_abandoned(new_station: NewStation, new_ledger: NewLedger, store: str) -> None:
    """And what was missed is made up for."""
    with proxy(store) as broken:
        station = new_station(store=broken.url, prometheus={"timeout": "5m"}, schedule={"deadline": "1s"})
        ledger = new_ledger(station)
        station.run_to(OPENED)
        ledger.wait_for("firing")
        broken.fault = takes(300.0)
        report = station.run_to(OPENED + 2)
        assert "it hung for 1 s" in str(report.error)
        assert len(report.open_incidents) == 1
        broken.fault = None
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")
        assert station.tally.ticks[Outcome.ABANDONED] == 2
        assert station.tally.instants_caught_up == 2


def test_a_detector_that_hangs_is_abandoned(
    new_station: NewStation, new_ledger: NewLedger, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At one instant, again and again: that one is passed over, also by the detector that takes its place."""
    step, hangs = Detector.step, history.instant(OPENED + 5)

    def hang(self: Detector, snapshot: Snapshot, *more: object) -> Assessment:
        while snapshot.time == hangs:
            pass
        return step(self, snapshot, *more)

    monkeypatch.setattr(Detector, "step", hang)
    station = new_station(schedule={"deadline": "1s"})
    ledger = new_ledger(station)
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")
    assert [tick for tick, report in station.reports.items() if report.error is not None] == [OPENED + 5]
    assert station.tally.ticks[Outcome.ABANDONED] == 1
