"""No secret in a log, an error, a page, the state or a process's arguments, whatever the servers do with it."""

import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from cli.conftest import run as run
from pytest_httpserver import HTTPServer
from servers.authority import Authority
from servers.command import Run
from servers.daemon import Daemon, daemon
from servers.process import free_port, wait_until
from werkzeug import Request, Response

from sentinel.state.database import FILE_NAME

BEARER = "bearer-e1f7c0aa92"
PASSWORD = "pass-77b0d4c2fe"
HEADER = "header-03ac94b51d"
ADDRESS = "address-5ad2b8c690"
COMMANDS = (
    "check-config",
    "check-config --json",
    "run --once",
    "status",
    "status --json",
    "explain 7611",
    "backtest --from 10m --to now",
    "baseline build --from 10m",
    "baseline show",
)


@dataclass
class Secrets:
    """Everything that must not be seen; the key's lines come with its file."""

    texts: list[str] = field(default_factory=lambda: [BEARER, PASSWORD, HEADER, ADDRESS])

    def add_key(self, path: Path) -> None:
        self.texts += [line for line in path.read_text().splitlines() if not line.startswith("-----")]

    def seen_in(self, data: bytes | str) -> list[str]:
        text = data if isinstance(data, str) else data.decode(errors="replace")
        # base64, as Authorization: Basic has it
        encoded = ["c2VudGluZWw6"]
        return [secret for secret in (*self.texts, *encoded) if secret in text]


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


def echo(status: int, mime: str = "text/plain") -> HTTPServer:
    """A server that repeats all that it was sent."""

    def answer(request: Request) -> Response:
        said = " ".join(f"{name}={value}" for name, value in request.headers)
        body = json.dumps({"status": "error", "errorType": "auth", "error": said}) if mime == "json" else said
        return Response(body, status)

    server = HTTPServer()
    server.expect_request(re.compile(".*")).respond_with_handler(answer)
    return server


@pytest.fixture(params=["401", "401 json", "200", "200 json", "503", "refused", "tls"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a server that fails in one of the ways in which they do."""
    if request.param == "refused":
        yield f"http://127.0.0.1:{free_port()}"
    elif request.param == "tls":
        certificate, key = Authority(tmp_path / "unknown").issue("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with HTTPServer(ssl_context=context) as server:
            yield server.url_for("").rstrip("/").replace("localhost", "127.0.0.1")
    else:
        status, _, mime = request.param.partition(" ")
        with echo(int(status), mime) as server:
            yield server.url_for("").rstrip("/")


def write_config(directory: Path, url: str, secrets: Secrets, *, basic: bool, log: str = "json") -> Path:
    """A configuration that uses every kind of secret."""
    certificate, key = Authority(directory / "own").issue("client")
    secrets.add_key(key)
    (directory / "token").write_text(BEARER)
    (directory / "password").write_text(PASSWORD)
    login = {"username": "sentinel", "password_file": str(directory / "password")}
    access = login if basic else {"bearer_token_file": str(directory / "token")}
    access |= {"cert_file": str(certificate), "key_file": str(key)}
    lines = [
        "[prometheus]",
        f'url = "{url}"',
        'timeout = "5s"',
        "retries = 0",
        f'headers = {{ X-Api-Key = "{HEADER}" }}',
        *(f'{name} = "{value}"' for name, value in access.items()),
        "[alertmanager]",
        f'urls = ["{url}"]',
        f'headers = {{ X-Api-Key = "{HEADER}" }}',
        *(f'{name} = "{value}"' for name, value in access.items()),
        "[schedule]",
        'tick = "1s"',
        'evaluation_delay = "0s"',
        f'[state]\ndirectory = "{directory / "state"}"',
        f'[log]\nlevel = "debug"\nformat = "{log}"',
        '[web]\nlisten_address = "127.0.0.1:0"',
    ]
    path = directory / "sentinel.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("basic", [False, True], ids=["bearer", "basic"])
def test_no_command_tells(run: Run, url: str, basic: bool, secrets: Secrets, tmp_path: Path) -> None:
    config = write_config(tmp_path, url, secrets, basic=basic)
    for command in COMMANDS:
        result = run(*command.split(), "--config", config)
        assert secrets.seen_in(result.out + result.err) == [], command
        if command.startswith(("run", "backtest", "baseline build")):
            assert result.status == 3, (command, result.err)
    for file in (tmp_path / "state").iterdir():
        assert secrets.seen_in(file.read_bytes()) == [], file


def pages(running: Daemon) -> str:
    (serving,) = (each for each in running.events() if each["event"] == "serving")
    get = (httpx.get(f"http://{serving['address']}{page}", trust_env=False) for page in ("/metrics", "/-/ready"))
    return "".join(answer.text for answer in get)


@pytest.mark.parametrize("basic", [False, True], ids=["bearer", "basic"])
def test_the_daemon_does_not_tell(basic: bool, secrets: Secrets, tmp_path: Path) -> None:
    with echo(401) as server:
        config = write_config(tmp_path, server.url_for("").rstrip("/"), secrets, basic=basic)
        with daemon(config) as running:
            for event in ("tick failed", "alerts not delivered", "silences not read"):
                running.wait_for(event)
            process = Path(f"/proc/{running.process.pid}")
            seen = [*((process / name).read_bytes() for name in ("cmdline", "environ")), pages(running)]
            good = config.read_text()
            for fault in (
                f'[prometheus]\nurl = "http://sentinel:{ADDRESS}@127.0.0.1"\n',
                f'[prometheus]\nurl = "http://sentinel:{ADDRESS}/x@127.0.0.1"\n',
                f'[alertmanager]\nurls = ["sentinel:{ADDRESS}@host:9093"]\n',
                f'[prometheus]\nheaders = {{ X-Api-Key = ["{HEADER}"] }}\n',
                f'[prometheus]\nheaders = {{ Authorization = "Bearer {BEARER}" }}\n',
                f'[prometheus]\npassword = "{PASSWORD}"\n',
            ):
                refused = sum(each["event"].startswith("configuration not reloaded") for each in running.events())
                config.write_text(fault)
                running.process.send_signal(signal.SIGHUP)
                running.wait_for("configuration not reloaded: the old one stays", refused + 1)
            config.write_text(good)
            running.stop()
        log = config.with_suffix(".log").read_text()
        assert "HTTP 401" in log
        assert secrets.seen_in(log) == []
        for each in (*seen, (tmp_path / "state" / FILE_NAME).read_bytes()):
            assert secrets.seen_in(each) == []


def test_the_daemon_does_not_tell_in_text(secrets: Secrets, tmp_path: Path) -> None:
    with echo(200) as server:
        config = write_config(tmp_path, server.url_for("").rstrip("/"), secrets, basic=False, log="text")
        with daemon(config) as running:
            log = config.with_suffix(".log")
            wait_until(lambda: log.read_text().count("tick failed") > 1, "two ticks have failed")
            running.stop()
        assert "not JSON" in log.read_text()
        assert secrets.seen_in(log.read_text()) == []


@pytest.mark.parametrize(
    "address",
    [
        f"http://sentinel:{ADDRESS}@host",
        f"http://sentinel:{ADDRESS}/y@host",
        f"http://sentinel:x@{ADDRESS}@host",
        f"http://sentinel:it's {ADDRESS}@host",
        f"http://sentinel:{ADDRESS},[x]@host",
        f"sentinel:{ADDRESS}@host:9090",
        f"ftp://sentinel:{ADDRESS}@host",
        f"http://:{ADDRESS}@",
    ],
)
@pytest.mark.parametrize("key", ["prometheus.url", "prometheus.external_url", "alertmanager.urls", "alertmanager.urll"])
def test_a_password_in_an_address_is_refused_and_not_repeated(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    address: str,
    secrets: Secrets,
    tmp_path: Path,
) -> None:
    section, name = key.split(".")
    config = tmp_path / "sentinel.toml"
    value = json.dumps([address] if name.startswith("urls") else address)
    config.write_text(f"[{section}]\n{name} = {value}\n")
    results = [run("check-config", "--config", config), run("check-config", "--set", f"{key}={address}")]
    results.append(run("check-config", "--set", f"{key}{address}"))
    monkeypatch.setenv(f"SENTINEL_{section}__{name}".upper(), address)
    results.append(run("check-config"))
    for result in results:
        assert result.status == 2
        assert secrets.seen_in(result.out + result.err) == []


def test_headers_are_used_and_not_printed(run: Run, secrets: Secrets, tmp_path: Path) -> None:
    config = write_config(tmp_path, "http://127.0.0.1:9", secrets, basic=True)
    printed = json.loads(run("check-config", "--json", "--config", config).out)
    assert printed["prometheus"]["headers"] == {"X-Api-Key": "<not shown>"}


@pytest.mark.parametrize("log", ["json", "text"])
def test_the_variables_of_a_frame_are_not_logged(log: str, tmp_path: Path) -> None:
    """What nobody thought of is logged with its traceback: without what the code had in its hands."""
    program = (
        "import structlog\n"
        "from sentinel.config.log import LogSettings\n"
        "from sentinel.daemon.log import configure_log\n"
        f"configure_log(LogSettings(format={log!r}))\n"
        "def ask(headers):\n"
        "    raise ZeroDivisionError\n"
        "try:\n"
        "    ask({'Authorization': 'Bearer ' + ''.join(['bearer-', 'e1f7c0aa92'])})\n"
        "except ZeroDivisionError:\n"
        "    structlog.get_logger().exception('tick failed')\n"
        "import logging\n"
        "try:\n"
        "    ask({'Authorization': 'Bearer ' + ''.join(['bearer-', 'e1f7c0aa92'])})\n"
        "except ZeroDivisionError:\n"
        "    logging.getLogger('apscheduler').exception('job failed')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stderr.count("ZeroDivisionError") >= 2
    assert Secrets().seen_in(done.stderr) == []
