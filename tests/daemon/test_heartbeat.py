"""The daemon as a process, a real Alertmanager, and what it brings back by the webhook."""

import signal
from collections.abc import Mapping
from pathlib import Path

import bcrypt
import httpx
from prometheus_client.parser import text_string_to_metric_families
from servers.alertmanager import alertmanager
from servers.daemon import Daemon, daemon
from servers.process import free_port, wait_until
from servers.prometheus import prometheus

PASSWORD = "of alertmanager"
BASIC_AUTH = "http_config: {{basic_auth: {{username: alertmanager, password_file: {file}}}}}"


def write_config(directory: Path, prometheus_url: str, replica: str, port: int) -> Path:
    directory.mkdir(exist_ok=True)
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    (directory / "web.yml").write_text(f'basic_auth_users: {{alertmanager: "{hashed}"}}\n')
    path = directory / "sentinel.toml"
    path.write_text(
        f'prometheus = {{ url = "{prometheus_url}" }}\n'
        f'alertmanager = {{ urls = ["{replica}"], resend = "1s" }}\n'
        'schedule = { tick = "1s", evaluation_delay = "0s", prime_ticks = 1 }\n'
        f'state = {{ directory = "{directory / "state"}" }}\n'
        f'web = {{ listen_address = "127.0.0.1:{port}", config_file = "{directory / "web.yml"}" }}\n'
    )
    return path


def ask(port: int, path: str) -> httpx.Response:
    url = f"http://127.0.0.1:{port}{path}"
    return httpx.get(url, auth=("alertmanager", PASSWORD), trust_env=False, timeout=10.0)


def numbers(port: int) -> Mapping[tuple[str, ...], float]:
    families = text_string_to_metric_families(ask(port, "/metrics").text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_a_heartbeat_comes_back_and_an_alert_of_others_is_context(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "password").write_text(PASSWORD)
    webhook = f"http://127.0.0.1:{port}/webhook/alertmanager"
    options = BASIC_AUTH.format(file=tmp_path / "password")
    with (
        prometheus(tmp_path / "prometheus") as store,
        alertmanager(tmp_path / "alertmanager", webhook, options=options) as replica,
        daemon(write_config(tmp_path / "one", store, replica, port)) as running,
    ):
        running.wait_for("serving")
        wait_until(lambda: ask(port, "/-/ready").status_code == 200, "it is ready")
        received = ("nccl_sentinel_heartbeat_last_received_timestamp_seconds",)
        wait_until(lambda: numbers(port)[received] > 0.0, "the heartbeat comes back")
        other = [{"labels": {"alertname": "NodeHot", "node": "n1"}}]
        httpx.post(f"{replica}/api/v2/alerts", json=other, trust_env=False).raise_for_status()
        wait_until(lambda: numbers(port)["nccl_sentinel_context_alerts",] == 1.0, "the alert arrives")
        page = numbers(port)
        assert page["nccl_sentinel_webhook_requests_total", "200"] >= 2.0
        assert page["nccl_sentinel_webhook_requests_total", "401"] == 0.0
        assert page["nccl_sentinel_heartbeat_last_sent_timestamp_seconds",] > 0.0
        assert page["nccl_sentinel_alertmanager_deliveries_total", replica, "accepted"] > 0.0
        assert running.stop() < 5.0
    assert PASSWORD not in str(running.events())


def test_two_daemons_do_not_take_each_others_heartbeats(tmp_path: Path) -> None:
    """One Alertmanager brings the heartbeats of both to the first."""
    first_port, second_port = free_port(), free_port()
    (tmp_path / "password").write_text(PASSWORD)
    webhook = f"http://127.0.0.1:{first_port}/webhook/alertmanager"
    options = BASIC_AUTH.format(file=tmp_path / "password")
    received = ("nccl_sentinel_heartbeat_last_received_timestamp_seconds",)
    with (
        prometheus(tmp_path / "prometheus") as store,
        alertmanager(tmp_path / "alertmanager", webhook, options=options) as replica,
        daemon(write_config(tmp_path / "first", store, replica, first_port)) as first,
    ):
        first.wait_for("serving")
        wait_until(lambda: numbers(first_port)[received] > 0.0, "its own comes back")
        with daemon(write_config(tmp_path / "second", store, replica, second_port)) as second:
            second.wait_for("serving")
            answered = numbers(first_port)["nccl_sentinel_webhook_requests_total", "200"]
            before = numbers(first_port)[received]
            wait_until(
                lambda: numbers(first_port)["nccl_sentinel_webhook_requests_total", "200"] > answered,
                "the other's comes to the first",
            )
            assert numbers(first_port)[received] == before
            assert numbers(first_port)["nccl_sentinel_context_alerts",] == 0.0
            assert numbers(second_port)[received] == 0.0


def test_a_reload_moves_the_endpoint_and_a_bad_one_does_not(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    with prometheus(tmp_path / "prometheus") as store:
        config = write_config(tmp_path / "one", store, "http://127.0.0.1:9", ports[0])
        with daemon(config) as running:
            running.wait_for("watching")
            config.write_text(config.read_text().replace(f":{ports[0]}", f":{ports[1]}"))
            reload(running, "configuration reloaded")
            assert numbers(ports[1])["nccl_sentinel_reloads_total", "taken"] == 1.0
            config.write_text(config.read_text() + "[web.nonsense]\n")
            reload(running, "configuration not reloaded: the old one stays")
            page = numbers(ports[1])
            assert page["nccl_sentinel_config_last_reload_successful",] == 0.0
            assert page["nccl_sentinel_reloads_total", "refused"] == 1.0
            assert running.stop() < 5.0


def reload(running: Daemon, event: str) -> None:
    running.process.send_signal(signal.SIGHUP)
    running.wait_for(event)
