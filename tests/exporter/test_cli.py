"""The command itself, as a process."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from nccl_exporter import __version__
from servers.authority import Authority
from servers.ras_service import RECORDED, ras_service

ROOT = Path(__file__).parents[2]
TIME = r"ts=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
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
        match = re.fullmatch(rf'{TIME} level=info msg="listening on (https?://[0-9.]+:[0-9]+)"\n', line)
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
    "arguments",
    [
        ["--nonsense"],
        ["--web.listen-address", "9847"],
        ["--log.level", "loud"],
        ["--series-per-rank", "0"],
        ["extra"],
    ],
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
    assert f'level=warn msg="directory {tmp_path}/missing does not exist yet' in process.stderr.readline()


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
    assert process.stderr.read().endswith(f' level=info msg="stopped by {number.name}"\n')


def test_signal_is_not_lost_in_the_middle_of_a_log_line(tmp_path: Path, poll: Callable[..., Any]) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 65536)
    os.set_blocking(writer, True)
    command = [*COMMAND, "--web.listen-address", "127.0.0.1:0", "--source-dir", str(tmp_path)]
    with os.fdopen(reader) as log, subprocess.Popen(command, stderr=writer) as process:
        os.close(writer)
        try:
            poll(lambda: "pipe_write" in Path(f"/proc/{process.pid}/wchan").read_text())
            process.terminate()
            assert log.read().endswith(' msg="stopped by SIGTERM"\n')
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()


def test_listens_on_loopback_unless_told_otherwise() -> None:
    help_text = run("--help").stdout
    assert "[default: 127.0.0.1:9847]" in " ".join(help_text.split())


def options() -> set[str]:
    """Every option that `--help` names."""
    return set(re.findall(r"--[a-z][a-z.-]*", run("--help").stdout))


def test_every_option_is_in_the_documentation() -> None:
    documented = set(re.findall(r"`(--[a-z][a-z.-]*)", (ROOT / "docs" / "exporter.md").read_text(encoding="utf-8")))
    assert options() == documented


@pytest.mark.parametrize(
    ("configuration", "warning"),
    [
        (None, "everybody in the network can read the metrics: protect them with --web.config.file"),
        ("", "everybody in the network can read the metrics: protect them with --web.config.file"),
        (f'basic_auth_users: {{a: "$2b$05${"." * 53}"}}', "passwords cross the network in clear text"),
    ],
)
def test_open_to_the_network_is_said_once(
    tmp_path: Path, start: Callable[..., Any], configuration: str | None, warning: str
) -> None:
    more = []
    if configuration is not None:
        (tmp_path / "web.yml").write_text(configuration)
        more = ["--web.config.file", str(tmp_path / "web.yml")]
    process, _ = start("--source-dir", str(tmp_path), "--web.listen-address", "0.0.0.0:0", *more)
    assert f'level=warn msg="{warning}' in process.stderr.readline()
    process.terminate()
    assert "level=warn" not in process.stderr.read()


def test_loopback_is_no_reason_to_warn(tmp_path: Path, start: Callable[..., Any]) -> None:
    process, _ = start("--source-dir", str(tmp_path))
    process.terminate()
    assert "level=warn" not in process.stderr.read()


def test_bad_web_configuration(tmp_path: Path) -> None:
    (tmp_path / "web.yml").write_text("tls: {}")
    done = run("--web.config.file", str(tmp_path / "web.yml"))
    assert (done.returncode, done.stderr) == (
        2,
        f"nccl-exporter: cannot use the web configuration ({tmp_path}/web.yml: tls): there is no such key. "
        "Allowed here: tls_server_config, http_server_config, basic_auth_users, rate_limit\n",
    )


def test_web_configuration_is_in_force(tmp_path: Path, start: Callable[..., Any]) -> None:
    certificate, key = Authority(tmp_path).issue("server")
    (tmp_path / "web.yml").write_text(f"tls_server_config: {{cert_file: {certificate.name}, key_file: {key.name}}}")
    # A relative path is relative to the file, not to where the program runs.
    _, url = start("--source-dir", str(tmp_path), "--web.config.file", str(tmp_path / "web.yml"))
    context = ssl.create_default_context(cafile=tmp_path / "authority.pem")
    assert httpx.get(f"{url}/metrics", verify=context, trust_env=False).status_code == 200


def test_ras_is_asked_and_published(
    make_file: Callable[..., Any], source_dir: Path, start: Callable[..., Any], poll: Callable[..., Any]
) -> None:
    file = make_file(pid=992)
    for slot, (comm, nranks) in enumerate(((0xA, 8), (0xB, 4))):
        file.communicator(slot, comm=comm, rank=2, nranks=nranks)
    document = json.loads(RECORDED)
    for communicator in document["communicators"]:
        for rank in communicator["ranks"]:
            rank["status"]["abort_flag"] = rank["rank"] == 2
    with ras_service() as service:
        service.text = json.dumps(document).encode()
        environment = {"NCCL_RAS_ADDR": str(service.address)}
        process, url = start("--source-dir", str(source_dir), "--ras.address", "auto", **environment)
        page = poll(lambda: text if "nccl_ras_rank_status{" in (text := get(url)) else None)
        for comm in ("000000000000000a", "000000000000000b"):
            assert f'nccl_ras_rank_status{{comm="{comm}",rank="2",status="abort"}} 1\n' in page
        assert "nccl_exporter_ras_queries_total 1\n" in page
        service.gate.clear()
        process.terminate()
        assert process.wait(timeout=10) == 0


def test_ras_address_that_is_none() -> None:
    done = run("--ras.address", "somewhere")
    assert (done.returncode, "For example --ras.address 127.0.0.1:28028" in done.stderr) == (2, True)
