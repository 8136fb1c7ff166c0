"""The metrics store fails, for five minutes in the middle of an incident, or while it ends."""

from pathlib import Path

import pytest
from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, TICK_SECONDS, WELL, History
from servers.process import free_port
from servers.prometheus import fill, prometheus
from servers.proxy import Fault, answers, cut_off, empty, partial, proxy, takes, truncated

from sentinel.config.detection import DetectionSettings
from sentinel.errors import SourceError
from sentinel.state.tick import Outcome

OPENED = LATE + 5
FIVE_MINUTES = 10  # in ticks
TIMED_OUT = b'{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}'

FAULTS: dict[str, Fault] = {
    "slow": takes(60.0),
    "503": answers(503, b"starting up"),
    "422": answers(422, TIMED_OUT),
    "connection lost in the answer": truncated,
    "truncated JSON": cut_off,
    "no JSON": answers(200, b"<html>It works!</html>"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_prometheus_fails_while_an_incident_goes_on_and_while_it_ends(
    new_station: NewStation, new_ledger: NewLedger, store: str, fault: str
) -> None:
    # What takes a minute is waited for as long as the configuration says: here three seconds.
    ticks, timeout = (1, "3s") if fault == "slow" else (FIVE_MINUTES, "10s")
    with proxy(store) as broken:
        station = new_station(store=broken.url, prometheus={"timeout": timeout})
        ledger = new_ledger(station)
        for begin in (OPENED, WELL - 1):
            station.run_to(begin)
            ledger.wait_for("firing")
            broken.fault = FAULTS[fault]
            station.run_to(begin + ticks)
            for tick in range(begin + 1, begin + ticks + 1):
                assert isinstance(station.reports[tick].error, SourceError)
                assert len(station.reports[tick].open_incidents) == 1
            ledger.check("firing")
            broken.fault = None
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")
        assert station.tally.ticks[Outcome.SOURCE_ERROR] == 2 * ticks
        assert station.tally.instants_given_up == 0


def test_prometheus_is_down(new_station: NewStation, new_ledger: NewLedger, history: History, tmp_path: Path) -> None:
    """The process ends, and another starts on its data."""
    port = free_port()
    fill(tmp_path / "store", history.text)
    with prometheus(tmp_path / "store", port=port) as url:
        station = new_station(store=url)
        ledger = new_ledger(station)
        station.run_to(OPENED)
        ledger.wait_for("firing")
    down = station.run_to(OPENED + FIVE_MINUTES)
    assert isinstance(down.error, SourceError)
    ledger.check("firing")
    with prometheus(tmp_path / "store", port=port):
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")


def test_prometheus_is_down_when_the_daemon_starts(new_station: NewStation, new_ledger: NewLedger, store: str) -> None:
    """And when an incident begins."""
    with proxy(store) as broken:
        broken.fault = answers(503, b"starting up")
        station = new_station(store=broken.url)
        ledger = new_ledger(station)
        station.run_to(LATE - 1)
        broken.fault = None
        station.run_to(LATE)
        broken.fault = answers(503, b"starting up")
        station.run_to(LATE + FIVE_MINUTES)
        broken.fault = None
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")


def test_prometheus_gives_partial_answers_with_warnings(
    new_station: NewStation, new_ledger: NewLedger, store: str
) -> None:
    """Half of the ranks are not there, the late one among them."""
    with proxy(store) as broken:
        station = new_station(store=broken.url)
        ledger = new_ledger(station)
        station.run_to(OPENED)
        ledger.wait_for("firing")
        broken.fault = partial
        report = station.run_to(OPENED + FIVE_MINUTES)
        assert station.tally.partial_snapshots == FIVE_MINUTES
        assert len(report.open_incidents) == 1
        ledger.check("firing")
        broken.fault = None
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")


def test_the_series_end_for_longer_than_a_job_may_be_gone(
    new_station: NewStation, new_ledger: NewLedger, store: str
) -> None:
    """Nothing is scraped any more, and the store answers well: that is no job that has ended."""
    gone_ticks = round(DetectionSettings().gone_after.total_seconds() / TICK_SECONDS)
    with proxy(store) as broken:
        station = new_station(store=broken.url)
        ledger = new_ledger(station)
        station.run_to(OPENED)
        ledger.wait_for("firing")
        broken.fault = empty
        report = station.run_to(WELL - 3)
        assert gone_ticks < WELL - 3 - OPENED
        assert len(report.open_incidents) == 1
        ledger.check("firing")
        broken.fault = None
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")
