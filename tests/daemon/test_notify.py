"""What systemd hears, on a real datagram socket."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from sentinel.daemon.notify import Notifier
from sentinel.errors import ConfigError

Listen = Callable[[str], socket.socket]


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Bind like systemd does, to a path or to the @name of an abstract socket."""
    bound: list[socket.socket] = []

    def listen(name: str) -> socket.socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        bound.append(server)
        server.settimeout(10.0)
        server.bind(f"\0{name[1:]}" if name.startswith("@") else name)
        return server

    yield listen
    for server in bound:
        server.close()


def heard(server: socket.socket) -> list[str]:
    return server.recv(4096).decode().split("\n")


def silent(server: socket.socket) -> bool:
    server.setblocking(False)
    try:
        server.recv(4096)
    except BlockingIOError:
        return True
    return False


@pytest.fixture(params=["path", "abstract"])
def name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "notify") if request.param == "path" else f"@nccl-sentinel-{secrets.token_hex(8)}"


def test_every_message(listen: Listen, name: str) -> None:
    server = listen(name)
    notifier = Notifier({"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "3000000"}, monotonic_ns=lambda: 12_345_678_999)
    notifier.ready("watching http://prometheus:9090")
    assert heard(server) == ["READY=1", "STATUS=watching http://prometheus:9090"]
    notifier.reloading()
    assert heard(server) == ["RELOADING=1", "MONOTONIC_USEC=12345678"]
    notifier.alive()
    assert heard(server) == ["WATCHDOG=1"]
    notifier.status("tick 7")
    assert heard(server) == ["STATUS=tick 7"]
    notifier.stopping()
    assert heard(server) == ["STOPPING=1", "STATUS=stopping"]
    assert silent(server)


def test_the_time_of_a_reload_is_the_clock_of_systemd(listen: Listen, tmp_path: Path) -> None:
    server = listen(str(tmp_path / "notify"))
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")}).reloading()
    said = int(heard(server)[1].removeprefix("MONOTONIC_USEC="))
    assert before <= said <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"}, None),  # of the process that started this one
    ],
)
def test_whether_a_watchdog_waits(
    listen: Listen, tmp_path: Path, environment: Mapping[str, str], expected: float | None
) -> None:
    server = listen(str(tmp_path / "notify"))
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify"), **environment}, process_id=42)
    assert notifier.watchdog_seconds == expected
    assert notifier.beat_seconds == (None if expected is None else expected / 2)
    notifier.alive()
    assert silent(server) is (expected is None)


def test_without_a_service_manager_nothing_is_said() -> None:
    with structlog.testing.capture_logs() as logged:
        notifier = Notifier({"WATCHDOG_USEC": "30000000"})
        notifier.ready("watching")
        notifier.alive()
        notifier.stopping()
    assert logged == []


def test_a_deaf_service_manager_costs_one_warning(listen: Listen, tmp_path: Path) -> None:
    path = tmp_path / "notify"
    notifier = Notifier({"NOTIFY_SOCKET": str(path)})
    with structlog.testing.capture_logs() as logged:
        notifier.ready("watching")
        notifier.status("still")
        assert [each["event"] for each in logged] == ["the service manager cannot be told"]
        server = listen(str(path))
        notifier.status("back")
        assert heard(server) == ["STATUS=back"]
        path.unlink()
        notifier.status("gone again")
    assert len(logged) == 2


def test_a_service_manager_that_does_not_read_holds_nobody_up(
    listen: Listen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sentinel.daemon.notify._SEND_SECONDS", 0.05)
    listen(str(tmp_path / "notify"))  # its queue takes some messages, then none
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    most = int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text()) + 2
    with structlog.testing.capture_logs() as logged:
        for number in range(most):
            notifier.status(f"message {number}")
            if logged:
                break
    assert [each["event"] for each in logged] == ["the service manager cannot be told"]


@pytest.mark.parametrize("name", ["notify", "@", "vsock:2:1234"])
def test_an_address_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="neither a path nor"):
        Notifier({"NOTIFY_SOCKET": name})


@pytest.mark.parametrize("microseconds", ["", "0", "-1", "1.5", "soon", "²"])
def test_a_watchdog_without_a_time_is_refused(microseconds: str) -> None:
    with pytest.raises(ConfigError, match="WATCHDOG_USEC="):
        Notifier({"WATCHDOG_USEC": microseconds})


@given(st.text(st.characters(exclude_categories=())))
def test_a_status_says_nothing_but_a_status(text: str) -> None:
    name = f"@nccl-sentinel-{os.getpid()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(10.0)
        server.bind(f"\0{name[1:]}")
        Notifier({"NOTIFY_SOCKET": name}).status(text)
        (line,) = heard(server)
    assert line.startswith("STATUS=")
