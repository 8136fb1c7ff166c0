"""Alertmanagers fail; the first test is the measure: nothing does."""

from contextlib import ExitStack
from pathlib import Path

from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, WELL
from servers.alertmanager import alertmanager
from servers.process import free_port
from servers.proxy import Proxy, answers, proxy, takes
from servers.tls import CERTIFICATE
from servers.webhook import webhook

from sentinel.errors import SinkError
from sentinel.sink.interface import Receipt

TEN_MINUTES = 20  # in ticks
OPENED = LATE + 5  # the incident is open by then, and goes on


def test_nothing_fails(new_station: NewStation, new_ledger: NewLedger) -> None:
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(WELL - 1)
    ledger.wait_for("firing")
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")
    assert all(report.error is None for report in station.reports.values())


def test_alertmanager_is_down_for_ten_minutes_while_an_incident_opens(
    new_station: NewStation, new_ledger: NewLedger, tmp_path: Path
) -> None:
    port = free_port()
    with webhook() as receiver:
        station = new_station(replicas=[f"http://127.0.0.1:{port}"])
        ledger = new_ledger(station, [receiver])
        report = station.run_to(LATE - 5 + TEN_MINUTES)
        assert isinstance(report.error, SinkError)
        with alertmanager(tmp_path / "alertmanager", receiver.url, port, group_interval="200ms"):
            station.run_to(LATE - 4 + TEN_MINUTES)  # the first tick after it is back
            ledger.wait_for("firing")
            station.run_to(LAST)
            ledger.wait_for("firing", "resolved")


def test_alertmanager_is_down_for_ten_minutes_while_an_incident_goes_on(
    new_station: NewStation, new_ledger: NewLedger, tmp_path: Path
) -> None:
    port = free_port()
    with webhook() as receiver:
        station = new_station(replicas=[f"http://127.0.0.1:{port}"])
        ledger = new_ledger(station, [receiver])
        with alertmanager(tmp_path / "alertmanager", receiver.url, port, group_interval="200ms"):
            station.run_to(OPENED)
            ledger.wait_for("firing")
        station.run_to(OPENED + TEN_MINUTES)
        with alertmanager(tmp_path / "alertmanager", receiver.url, port, group_interval="200ms"):
            station.run_to(WELL - 1)
            ledger.check("firing")
            station.run_to(LAST)
            ledger.wait_for("firing", "resolved")


def test_alertmanager_is_down_for_ten_minutes_while_an_incident_ends(
    new_station: NewStation, new_ledger: NewLedger, tmp_path: Path
) -> None:
    port = free_port()
    with webhook() as receiver:
        station = new_station(replicas=[f"http://127.0.0.1:{port}"])
        ledger = new_ledger(station, [receiver])
        with alertmanager(tmp_path / "alertmanager", receiver.url, port, group_interval="200ms"):
            station.run_to(WELL - 1)
            ledger.wait_for("firing")
        station.run_to(WELL - 1 + TEN_MINUTES)
        with alertmanager(tmp_path / "alertmanager", receiver.url, port, group_interval="200ms"):
            station.run_to(WELL + TEN_MINUTES)
            ledger.wait_for("firing", "resolved")
            station.run_to(LAST)
        ledger.check("firing", "resolved")


def test_one_replica_of_two_is_down(new_station: NewStation, new_ledger: NewLedger, replicas: list[str]) -> None:
    """The other is told in time, of everything."""
    dead = f"http://127.0.0.1:{free_port()}"
    station = new_station(replicas=[dead, replicas[0]])
    ledger = new_ledger(station)
    alive = new_ledger(station, ledger.receivers[:1])
    station.run_to(OPENED)
    alive.wait_for("firing")
    station.run_to(LAST)
    alive.wait_for("firing", "resolved")
    assert station.tally.deliveries[dead, Receipt.UNREACHABLE] == sum(
        station.tally.deliveries[replicas[0], receipt] for receipt in Receipt
    )


def test_one_replica_of_two_is_slow(new_station: NewStation, new_ledger: NewLedger, replicas: list[str]) -> None:
    """It takes a minute for an answer, and neither the ticks nor the other replica notice."""
    with proxy(replicas[1]) as slow:
        slow.fault = takes(60.0)
        station = new_station(replicas=[replicas[0], slow.url], alertmanager={"timeout": "50ms"})
        ledger = new_ledger(station)
        station.run_to(OPENED)
        new_ledger(station, ledger.receivers[:1]).wait_for("firing")
        slow.fault = None
        station.run_to(LAST)
        # The slow one took what it did not answer to: it, too, told people once.
        ledger.wait_for("firing", "resolved")
        assert station.tally.deliveries[slow.url, Receipt.UNREACHABLE] > 0


def test_an_alertmanager_answers_503_for_ten_minutes(
    new_station: NewStation, new_ledger: NewLedger, replicas: list[str]
) -> None:
    with ExitStack() as stack:
        before: list[Proxy] = [stack.enter_context(proxy(url)) for url in replicas]
        for each in before:
            each.fault = answers(503, b"no leader")
        station = new_station(replicas=[each.url for each in before])
        ledger = new_ledger(station)
        station.run_to(LATE + TEN_MINUTES)
        for each in before:
            each.fault = None
        station.run_to(WELL - 1)
        ledger.wait_for("firing")
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")


def test_behind_a_proxy_with_tls_and_a_token_that_is_changed(
    new_station: NewStation, new_ledger: NewLedger, replicas: list[str], store: str, tmp_path: Path
) -> None:
    """In front of everything. For five minutes the daemon's token is the old one."""
    token = tmp_path / "token"
    token.write_text("old")
    with ExitStack() as stack:
        before: list[Proxy] = [stack.enter_context(proxy(url, tls=True)) for url in (store, *replicas)]
        for each in before:
            each.token = "old"
        access = {"bearer_token_file": token, "ca_file": CERTIFICATE}
        urls = [each.url for each in before]
        station = new_station(store=urls[0], replicas=urls[1:], prometheus=access, alertmanager=access)
        ledger = new_ledger(station)
        station.run_to(OPENED)
        ledger.wait_for("firing")
        for each in before:
            each.token = "new"
        refused = station.run_to(OPENED + 10)
        assert "401" in str(refused.error)
        token.write_text("new")
        assert station.run_to(WELL - 1).error is None
        ledger.check("firing")
        station.run_to(LAST)
        ledger.wait_for("firing", "resolved")
