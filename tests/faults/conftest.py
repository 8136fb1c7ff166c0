"""Real servers for every fault: one Prometheus that holds the history, and two Alertmanagers with a receiver each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from faults.history import FIRST, LAST, LATE_RANK, History, make_history
from faults.ledger import Ledger
from faults.station import Station, make_settings
from servers.alertmanager import alertmanager
from servers.prometheus import fill, prometheus
from servers.webhook import Webhook, webhook

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.daemon.backtest import run_backtest
from sentinel.model.incident import Incident
from sentinel.sink.alert import AlertWriter
from sentinel.source.prometheus import PrometheusSource

NewStation = Callable[..., Station]
NewLedger = Callable[[Station], Ledger]


@pytest.fixture(scope="session")
def history() -> History:
    return make_history()


@pytest.fixture(scope="session")
def store(history: History, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the Prometheus."""
    directory = tmp_path_factory.mktemp("store")
    fill(directory, history.text)
    with prometheus(directory) as url:
        yield url


@pytest.fixture(scope="session")
def receivers() -> Iterator[list[Webhook]]:
    with webhook() as first, webhook() as second:
        yield [first, second]


@pytest.fixture(scope="session")
def replicas(receivers: list[Webhook], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Addresses of the Alertmanagers."""
    directory = tmp_path_factory.mktemp("replicas")
    with ExitStack() as stack:
        yield [
            stack.enter_context(alertmanager(directory / str(number), receiver.url, group_interval="200ms"))
            for number, receiver in enumerate(receivers)
        ]


@pytest.fixture(scope="session")
def truth(history: History, store: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Incident, ...]:
    """What is found where nothing fails."""
    settings = make_settings(tmp_path_factory.mktemp("truth"), store, (), "none")
    with PrometheusSource(settings.prometheus) as source:
        span = history.instant(FIRST), history.instant(LAST)
        found = run_backtest(source, settings, None, *span, lambda *_: None).incidents
    assert [incident.culprit.ranks for incident in found] == [(LATE_RANK,)]
    assert all(incident.ended_at is not None for incident in found)
    return found


@pytest.fixture
def new_station(
    history: History, store: str, replicas: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[NewStation]:
    """Build one; its alerts carry the test's name. Keywords are sections of the configuration."""
    with ExitStack() as stack:

        def new(
            *,
            directory: Path = tmp_path,
            store: str = store,
            replicas: list[str] = replicas,
            started: bool = True,
            **sections: Any,
        ) -> Station:
            station = Station(directory, history, store, replicas, request.node.name, **sections)
            stack.callback(station.close)
            if started:
                station.open()
            return station

        yield new


@pytest.fixture
def new_ledger(truth: tuple[Incident, ...], receivers: list[Webhook]) -> Callable[..., Ledger]:
    """Of what the receivers of both replicas, or others, are told of a station's alerts."""

    def new(station: Station, receivers: list[Webhook] = receivers) -> Ledger:
        alertmanager: AlertmanagerSettings = station.settings.alertmanager
        writer = AlertWriter(alertmanager, station.settings.prometheus, 30.0)
        return Ledger(truth, writer, receivers, alertmanager.external_labels)

    return new
