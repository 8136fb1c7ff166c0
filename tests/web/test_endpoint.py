"""The daemon's pages over real connections."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest
from servers.notification import alert, notification

from sentinel.config.web import WebSettings
from sentinel.errors import ConfigError
from sentinel.web.context import Context
from sentinel.web.endpoint import Endpoint, Pages
from sentinel.web.webhook import WEBHOOK_PATH, Webhook

NOW = 1_795_980_960.0
OURS = {"alertname": "NcclSentinelHeartbeat", "instance": "here-1"}


class Behind:
    """What the pages show."""

    def __init__(self) -> None:
        self.fault = ""
        self.context = Context(WebSettings())
        self.webhook = Webhook(OURS, {"NcclSentinelHeartbeat"}, self.context, lambda: NOW)


@pytest.fixture
def behind() -> Behind:
    return Behind()


def settings(**values: Any) -> WebSettings:
    return WebSettings.model_validate({"listen_address": "127.0.0.1:0", **values})


@contextmanager
def serving(behind: Behind, **values: Any) -> Iterator[Endpoint]:
    pages = Pages(lambda: "up 1\n", lambda: behind.fault, behind.webhook)
    with Endpoint(settings(**values), pages) as endpoint:
        yield endpoint


def get(endpoint: Endpoint, path: str, **options: Any) -> httpx.Response:
    return httpx.get(f"http://{endpoint.address}{path}", trust_env=False, timeout=10.0, **options)


def post(endpoint: Endpoint, body: bytes, **options: Any) -> httpx.Response:
    url = f"http://{endpoint.address}{WEBHOOK_PATH}"
    headers = {"Content-Type": "application/json"}
    return httpx.post(url, content=body, headers=headers, trust_env=False, timeout=10.0, **options)


def users(path: Path, name: str = "alertmanager", password: bytes = b"right") -> Path:
    hashed = bcrypt.hashpw(password, bcrypt.gensalt(4)).decode()
    path.write_text(f'basic_auth_users: {{{name}: "{hashed}"}}\n')
    return path


def test_pages(behind: Behind) -> None:
    with serving(behind) as endpoint:
        metrics = get(endpoint, "/metrics")
        assert (metrics.status_code, metrics.text) == (200, "up 1\n")
        assert metrics.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert get(endpoint, "/-/healthy").status_code == 200
        assert get(endpoint, "/").status_code == 404
        assert get(endpoint, WEBHOOK_PATH).status_code == 405


def test_ready_says_why_it_is_not(behind: Behind) -> None:
    with serving(behind) as endpoint:
        assert get(endpoint, "/-/ready").status_code == 200
        behind.fault = "not ready: no tick has ended well yet"
        answer = get(endpoint, "/-/ready")
        assert (answer.status_code, answer.text) == (503, "not ready: no tick has ended well yet\n")
        assert get(endpoint, "/-/healthy").status_code == 200


def test_notification_is_taken_and_counted(behind: Behind) -> None:
    with serving(behind) as endpoint:
        assert post(endpoint, notification(alert(**OURS), alert(node="n1"))).status_code == 200
        assert post(endpoint, b"[]").status_code == 400
    assert behind.webhook.heartbeat_received_at == NOW
    assert [each.labels["node"] for each in behind.context.firing(NOW)] == ["n1"]
    assert behind.webhook.codes() == {200: 1, 400: 1}


def test_long_notification_is_refused(behind: Behind) -> None:
    body = notification(alert())
    with serving(behind, max_webhook_body=len(body)) as endpoint:
        assert post(endpoint, body).status_code == 200
        assert post(endpoint, body + b" ").status_code == 413
    assert behind.webhook.codes() == {200: 1, 413: 1}


def test_nobody_notifies_without_the_password(behind: Behind, tmp_path: Path) -> None:
    with serving(behind, config_file=users(tmp_path / "web.yml")) as endpoint:
        assert post(endpoint, notification(alert(**OURS))).status_code == 401
        assert post(endpoint, notification(alert(**OURS)), auth=("alertmanager", "wrong")).status_code == 401
        assert behind.webhook.heartbeat_received_at is None
        assert post(endpoint, notification(alert(**OURS)), auth=("alertmanager", "right")).status_code == 200
        assert [get(endpoint, path).status_code for path in ("/metrics", "/-/healthy", "/-/ready")] == [401] * 3
    assert behind.webhook.codes() == {401: 2, 200: 1}


def test_too_many_requests_are_refused(behind: Behind) -> None:
    with serving(behind, max_requests_per_second=0.5) as endpoint, httpx.Client(trust_env=False) as client:
        url = f"http://{endpoint.address}/metrics"
        assert [client.get(url).status_code for _ in range(2)] == [200, 429]


def test_taken_port_is_said_with_what_can_be_done(behind: Behind) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigError) as caught, serving(behind, listen_address=address):
            pass
    assert str(caught.value) == (
        f"cannot listen ({address}): Address already in use. Does another daemon run? Else choose another "
        "web.listen_address; port 0 takes a free one."
    )


def test_bad_web_configuration_is_said(behind: Behind, tmp_path: Path) -> None:
    file = tmp_path / "web.yml"
    file.write_text("basic_auth_users: {a: hunter2}")
    with (
        pytest.raises(ConfigError, match="cannot use the web configuration") as caught,
        serving(behind, config_file=file),
    ):
        pass
    assert "hunter2" not in str(caught.value)


def test_other_address_is_moved_to(behind: Behind) -> None:
    with serving(behind) as endpoint:
        before = endpoint.address
        endpoint.follow(settings(listen_address="localhost:0"))
        assert endpoint.address.port != before.port
        assert get(endpoint, "/-/healthy").status_code == 200
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(before, timeout=10)


def test_other_limits_and_users_hold_at_the_same_address(behind: Behind, tmp_path: Path) -> None:
    with serving(behind) as endpoint:
        before = endpoint.address
        endpoint.follow(settings(max_webhook_body=5, config_file=users(tmp_path / "web.yml")))
        assert endpoint.address == before
        assert post(endpoint, b"[]    ").status_code == 401
        assert post(endpoint, b"[]    ", auth=("alertmanager", "right")).status_code == 413


def test_what_cannot_be_followed_leaves_all_as_it_was(behind: Behind, tmp_path: Path) -> None:
    with serving(behind) as endpoint, socket.create_server(("127.0.0.1", 0)) as taken:
        before = endpoint.address
        for bad in (
            settings(listen_address=f"127.0.0.1:{taken.getsockname()[1]}"),
            settings(config_file=tmp_path / "missing.yml"),
        ):
            with pytest.raises(ConfigError):
                endpoint.follow(bad)
            assert endpoint.address == before
            assert get(endpoint, "/metrics").text == "up 1\n"


@pytest.mark.parametrize(
    ("protected", "warning"), [(False, "everybody in the network"), (True, "passwords cross the network in clear text")]
)
def test_open_to_the_network_is_said(
    behind: Behind, tmp_path: Path, protected: bool, warning: str, capfd: pytest.CaptureFixture[str]
) -> None:
    more = {"config_file": users(tmp_path / "web.yml")} if protected else {}
    with serving(behind, listen_address="0.0.0.0:0", **more):
        pass
    with serving(behind):
        pass
    said = capfd.readouterr()
    assert (said.out + said.err).count(warning) == 1
