"""The daemon as a process: its configuration is broken at a reload, it is told to stop, its webhook is flooded."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from faults.conftest import NewLedger, NewStation
from faults.history import LAST, LATE, RESEND, TICK_SECONDS, WELL
from faults.shifted import shifted_daemon
from faults.station import Station
from prometheus_client.parser import text_string_to_metric_families
from servers.notification import alert, notification
from servers.process import free_port

from sentinel.daemon.front import Front
from sentinel.state.tick import Outcome

OPENED = LATE + 5
STOP_SECONDS = 10.0


def write_config(path: Path, station: Station, replicas: list[str], port: int) -> Path:
    """The station's configuration as a file, to be served on `port`."""
    labels = station.settings.alertmanager.external_labels
    path.write_text(
        f'prometheus = {{ url = "{station.settings.prometheus.url}", retries = 0 }}\n'
        f'schedule = {{ tick = "{TICK_SECONDS}s", evaluation_delay = "5s" }}\n'
        f'state = {{ directory = "{station.settings.state.directory}" }}\n'
        f'web = {{ listen_address = "127.0.0.1:{port}" }}\n'
        "[alertmanager]\n"
        f"urls = {json.dumps(replicas)}\n"
        f'resend = "{RESEND}"\n'
        'timeout = "5s"\n'
        "heartbeat = false\n"
        f"external_labels = {{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in labels.items())} }}\n"
    )
    return path


def number(port: int, name: str, *values: str) -> float:
    """A metric of the daemon, by its name and the values of its labels."""
    page = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=10.0).text
    (found,) = (
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == f"nccl_sentinel_{name}" and set(sample.labels.values()) == set(values)
    )
    return found


def test_the_configuration_is_broken_at_a_reload(
    new_station: NewStation, new_ledger: NewLedger, replicas: list[str], tmp_path: Path
) -> None:
    """In every way in which it can be: the daemon goes on with the one that it has, and takes the next that is good."""
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    station.close()

    port, path = free_port(), tmp_path / "sentinel.toml"
    (tmp_path / "no.pem").write_text("no certificate")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sentinel.db").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        elsewhere = write_config(path, station, replicas, taken.getsockname()[1]).read_text()
        good = write_config(path, station, replicas, port).read_text()
        state = str(station.settings.state.directory)
        broken = [
            "this is no TOML",
            good + "resent = '1m'\n",
            good + f'ca_file = "{tmp_path / "no.pem"}"\n',
            good + f'bearer_token_file = "{tmp_path / "missing"}"\n',
            good.replace(state, str(tmp_path / "no" / "where")),
            good.replace(state, str(tmp_path / "broken")),
            good.replace(state, "/proc/nccl-sentinel"),
            elsewhere,
        ]
        with shifted_daemon(path, station.now + TICK_SECONDS) as running:
            running.wait_for("watching")
            for count, text in enumerate(broken, start=1):
                path.write_text(text)
                running.process.send_signal(signal.SIGHUP)
                running.wait_for("configuration not reloaded: the old one stays", count)
                assert number(port, "reloads_total", "refused") == count
                assert number(port, "config_last_reload_successful") == 0.0
                assert number(port, "incidents", "late_rank", "P1") == 1.0
            path.write_text(good.replace('timeout = "5s"', 'timeout = "4s"'))
            running.process.send_signal(signal.SIGHUP)
            running.wait_for("watching", 2)
            assert number(port, "reloads_total", "taken") == 1.0
            assert running.stop() < STOP_SECONDS
    ledger.check("firing")
    station.open()
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


def test_a_reload_to_another_directory_takes_what_goes_on_along(
    new_station: NewStation, new_ledger: NewLedger, replicas: list[str], tmp_path: Path
) -> None:
    station = new_station()
    ledger = new_ledger(station)
    station.run_to(OPENED)
    ledger.wait_for("firing")
    station.close()
    path, port = tmp_path / "sentinel.toml", free_port()
    write_config(path, station, replicas, port)
    with shifted_daemon(path, station.now + TICK_SECONDS) as running:
        running.wait_for("watching")
        other = tmp_path / "other"
        station.settings = station.settings.model_copy(
            update={"state": station.settings.state.model_copy(update={"directory": other})}
        )
        write_config(path, station, replicas, port)
        running.process.send_signal(signal.SIGHUP)
        running.wait_for("watching", 2)
        assert running.stop() < STOP_SECONDS
    station.open()
    station.run_to(LAST)
    ledger.wait_for("firing", "resolved")


def test_it_is_told_to_stop_while_a_delivery_is_under_way(new_station: NewStation, tmp_path: Path) -> None:
    """The delivery is waited for."""
    station = new_station(replicas=[])
    station.run_to(OPENED)
    station.close()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30.0)
        replica = f"http://127.0.0.1:{server.getsockname()[1]}"
        path = write_config(tmp_path / "sentinel.toml", station, [replica], free_port())
        with shifted_daemon(path, station.now + TICK_SECONDS) as running:
            connection, _ = server.accept()
            running.wait_for("watching")
            began = time.monotonic()
            running.process.send_signal(signal.SIGTERM)
            running.wait_for("stopping")
            assert running.process.poll() is None
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.close()
            assert running.process.wait(STOP_SECONDS) == 0
            assert time.monotonic() - began < STOP_SECONDS
    assert "alerts not delivered" not in str(running.events())


def test_it_is_told_to_stop_and_nobody_answers(new_station: NewStation, tmp_path: Path) -> None:
    """Neither the store nor Alertmanager: it ends within its ten seconds."""
    station = new_station(replicas=[])
    station.run_to(OPENED)
    station.close()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as store:
        replica, silent = (f"http://127.0.0.1:{each.getsockname()[1]}" for each in (server, store))
        path = write_config(tmp_path / "sentinel.toml", station, [replica], free_port())
        text = path.read_text().replace(station.settings.prometheus.url, silent)
        path.write_text(text.replace('timeout = "5s"', 'timeout = "1h"'))
        with shifted_daemon(path, station.now + TICK_SECONDS) as running:
            running.wait_for("watching")
            assert running.stop() < STOP_SECONDS


FLOOD = """
import http.client, sys, threading
port, body = int(sys.argv[1]), sys.stdin.buffer.read()
def flood():
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            while True:
                connection.request("POST", "/webhook/alertmanager", body, {"Content-Type": "application/json"})
                connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass
for _ in range(8):
    threading.Thread(target=flood, daemon=True).start()
threading.Event().wait(100)
"""


def test_the_webhook_is_flooded(new_station: NewStation, new_ledger: NewLedger) -> None:
    """With notifications of alerts that nobody has seen before, by eight senders at once."""
    station = new_station(started=False, alertmanager={"heartbeat": False})
    ledger = new_ledger(station)
    with Front(station.settings, station.tally, lambda: station.now) as station.front:
        station.open()
        body = notification(*(alert(name=str(number)) for number in range(200)))
        port = station.front.endpoint.address.port
        with subprocess.Popen([sys.executable, "-c", FLOOD, str(port)], stdin=subprocess.PIPE) as flood:
            try:
                flood.stdin.write(body)
                flood.stdin.close()
                station.run_to(WELL - 1)
                ledger.wait_for("firing")
                station.run_to(LAST)
                ledger.wait_for("firing", "resolved")
            finally:
                flood.kill()
        assert number(port, "webhook_requests_total", "200") > 0
        assert number(port, "context_alerts") == 200
    assert station.tally.ticks[Outcome.OK] == len(station.reports)
