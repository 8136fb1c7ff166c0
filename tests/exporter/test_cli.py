"""The command itself, as a process."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nccl_exporter import __version__

COMMAND = [sys.executable, "-m", "nccl_exporter"]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def start() -> Iterator[Callable[..., "tuple[subprocess.Popen[str], str]"]]:
    """Starts the exporter on a free port and gives its URL."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **environment: str) -> "tuple[subprocess.Popen[str], str]":
        process = subprocess.Popen(
            [*COMMAND, "--web.listen-address", "127.0.0.1:0", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        running.append(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        match = re.fullmatch(r".* INFO listening on (http://127\.0\.0\.1:[0-9]+)\n", line)
        assert match, line
        return process, match[1]

    yield begin
    for process in running:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def get(url: str, path: str = "/metrics") -> str:
    """The page, which must be there."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200
    return text


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"nccl-exporter {__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["--web.listen-address", "9847"], ["--log.level", "loud"], ["extra"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_port_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("--web.listen-address", address)
    assert done.returncode == 2
    assert done.stderr == (
        f"nccl-exporter: cannot listen ({address}): Address already in use. "
        "Choose another address with --web.listen-address\n"
    )


def test_every_directory_given_is_served(
    make_file: Callable[..., Any], source_dir: Path, tmp_path: Path, start: Callable[..., Any]
) -> None:
    make_file().communicator(name="here")
    _, url = start("--source-dir", str(tmp_path / "missing"), "--source-dir", str(source_dir))
    assert 'comm_name="here"' in get(url)


def test_directory_of_the_environment(
    make_file: Callable[..., Any], source_dir: Path, start: Callable[..., Any]
) -> None:
    make_file().communicator(name="here")
    _, url = start(NCCL_SENTINEL_DIR=str(source_dir))
    assert 'comm_name="here"' in get(url)


def test_missing_directory_is_healthy_and_said(tmp_path: Path, start: Callable[..., Any]) -> None:
    process, url = start("--source-dir", str(tmp_path / "missing"))
    assert 'nccl_exporter_sources{state="live"} 0\n' in get(url)
    assert get(url, "/-/healthy") == "nccl-exporter is healthy.\n"
    assert f"WARNING directory {tmp_path}/missing does not exist yet" in process.stderr.readline()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_it_at_once(tmp_path: Path, start: Callable[..., Any], number: signal.Signals) -> None:
    process, url = start("--source-dir", str(tmp_path), "--log.level", "info")
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))):  # a client that hangs on must not hold it up
        get(url)
        begin = time.monotonic()
        process.send_signal(number)
        assert process.wait(timeout=10) == 0
    assert time.monotonic() - begin < 2
    assert process.stderr.read().endswith(f" INFO stopped by {number.name}\n")
