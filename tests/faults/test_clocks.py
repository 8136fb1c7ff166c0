"""The machine's clock is set to a wrong time, and back. Nobody else's is."""

import pytest
from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, WELL

from sentinel.sink.interface import Receipt

OPENED = LATE + 5
HOUR = 3600.0


@pytest.mark.parametrize(
    ("error_seconds", "begin"),
    [(HOUR, LATE - 3), (-HOUR, LATE - 3), (HOUR, OPENED), (-HOUR, OPENED), (90.0, OPENED), (-90.0, OPENED)],
)
def test_the_clock_is_stepped_and_set_right_again(
    new_station: NewStation, new_ledger: NewLedger, error_seconds: float, begin: int
) -> None:
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(begin)
    station.clock_error_seconds = error_seconds
    station.run_to(begin + 15)
    ledger.wait_for("firing")
    station.clock_error_seconds = 0.0
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")
    assert station.tally.instants_given_up == 0


@pytest.mark.parametrize("error_seconds", [HOUR, -HOUR])
def test_the_clock_is_wrong_when_the_daemon_starts_and_set_right_later(
    new_station: NewStation, new_ledger: NewLedger, error_seconds: float
) -> None:
    """Before the incident: what is found is the same as if it had been right."""
    station = new_station(started=False)
    station.clock_error_seconds = error_seconds
    station.open()
    ledger = new_ledger(station)
    station.run_to(LATE - 3)
    station.clock_error_seconds = 0.0
    station.run_to(WELL - 1)
    ledger.wait_for("firing")
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


@pytest.mark.parametrize("error_seconds", [HOUR, -HOUR])
def test_the_daemon_is_restarted_while_the_clock_is_wrong(
    new_station: NewStation, new_ledger: NewLedger, error_seconds: float, replicas: list[str]
) -> None:
    """What fires goes on: a clock that is behind does not end it."""
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    station.close()
    station.clock_error_seconds = error_seconds
    station.open()
    sent = station.tally.deliveries[replicas[0], Receipt.ACCEPTED]
    station.run_to(OPENED + 15)
    assert station.tally.deliveries[replicas[0], Receipt.ACCEPTED] > sent
    station.clock_error_seconds = 0.0
    station.run_to(WELL - 1)
    ledger.check("firing")
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")
