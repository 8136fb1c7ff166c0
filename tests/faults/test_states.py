"""The state directory fails while an incident opens or goes on: alerts do not notice, nor does a restart after it."""

import os
import sqlite3
from pathlib import Path

import pytest
from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, WELL
from faults.station import Station

from sentinel.errors import StateError
from sentinel.state.database import FILE_NAME
from sentinel.state.store import State

OPENED = LATE + 5


def pragma(station: Station, text: str) -> int:
    assert station.watch is not None
    row = station.watch.home.state._connection.execute(f"PRAGMA {text}").fetchone()
    return int(row[0]) if row else 0


def fill_up(station: Station) -> None:
    """No page more, and no room for one more tick in those that there are."""
    connection = station.watch.home.state._connection
    pragma(station, f"max_page_count = {pragma(station, 'page_count')}")
    rows = ((-float(number),) for number in range(100_000))
    with pytest.raises(sqlite3.OperationalError, match="full"):
        connection.executemany("INSERT INTO ticks VALUES (?, 'ok', 0, 0, '')", rows)


def free_up(station: Station) -> None:
    pragma(station, "max_page_count = 1073741823")
    station.watch.home.state._connection.execute("DELETE FROM ticks WHERE time <= 0")


def protect(station: Station) -> None:
    pragma(station, "query_only = ON")


def unprotect(station: Station) -> None:
    pragma(station, "query_only = OFF")


FAULTS = {"full": (fill_up, free_up), "read-only": (protect, unprotect)}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_state_cannot_be_written_while_an_incident_opens(
    new_station: NewStation, new_ledger: NewLedger, fault: str
) -> None:
    breaks, mends = FAULTS[fault]
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(LATE - 2)
    breaks(station)
    report = station.run_to(OPENED + 10)
    ledger.wait_for("firing")
    assert isinstance(report.error, StateError)
    assert station.tally.state_errors > 0
    assert fault.replace("-", "") in str(report.error)
    mends(station)
    assert station.run_to(OPENED + 11).error is None
    station.close()
    station.open()  # it remembers
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


def garbage(directory: Path) -> None:
    """Every page of the database, and what is still in its log."""
    for suffix in ("", "-wal"):
        path = directory / f"{FILE_NAME}{suffix}"
        if path.exists():
            path.write_bytes(os.urandom(path.stat().st_size))


def taken_away(directory: Path) -> None:
    for path in directory.glob(f"{FILE_NAME}*"):
        path.unlink()


def directory_taken_away(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()


@pytest.mark.parametrize("fault", [garbage, taken_away, directory_taken_away])
def test_the_database_breaks_under_the_daemon(new_station: NewStation, new_ledger: NewLedger, fault: object) -> None:
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    fault(station.settings.state.directory)
    station.run_to(OPENED + 10)
    ledger.check("firing")
    with State.open_readonly(station.settings.state.directory) as state:
        (incident,) = state.open_incidents()  # made anew, with what the daemon knows
        assert incident.started_at == ledger.truth[0].started_at
    station.close()
    station.open()
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


@pytest.mark.parametrize("fault", [garbage, taken_away])
def test_the_database_is_broken_when_the_daemon_starts(
    new_station: NewStation, new_ledger: NewLedger, fault: object
) -> None:
    """Memory is lost, no alert is: the fault is found again, and Alertmanager knows it by its labels."""
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    station.close()
    fault(station.settings.state.directory)
    station.open()
    report = station.run_to(WELL - 1)
    assert len(report.open_incidents) == 1
    ledger.check("firing")
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


def test_the_database_cannot_be_written_when_the_daemon_starts(new_station: NewStation, new_ledger: NewLedger) -> None:
    """It knows what stands there, and writes what has come since as soon as that is possible."""
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    station.close()
    log = station.settings.state.directory / f"{FILE_NAME}-wal"
    log.mkdir()  # as on a full or read-only disk: nowhere to write ahead
    station.open()
    report = station.run_to(WELL + 10)
    assert isinstance(report.error, StateError)
    assert station.tally.state_errors > 10
    ledger.wait_for("firing", "resolved")
    log.rmdir()
    assert station.run_to(LAST).error is None
    ledger.check("firing", "resolved")
    with State.open_readonly(station.settings.state.directory) as state:
        (incident,) = state.incidents_since(0.0)
        assert (incident.started_at, incident.ended_at) == (ledger.truth[0].started_at, ledger.truth[0].ended_at)
