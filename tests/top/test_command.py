import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import run as run
from page.scenes import COMM, Scene
from page.served import serving
from servers.command import Run
from servers.incidents import INCIDENT
from servers.process import free_port

from sentinel.config.web import WebSettings
from sentinel.errors import ConfigError
from sentinel.top.access import daemon_url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Scene(tmp_path_factory.mktemp("scene"), INCIDENT)) as address:
        yield address


def test_once_as_text(run: Run, url: str) -> None:
    result = run("top", "--url", url, "--once")
    assert (result.status, result.err) == (0, "")
    assert "Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711" in result.out
    (row,) = (line for line in result.out.splitlines() if line.endswith("P1 late_rank"))
    assert row.split()[:3] == ["3", "node1", "1"]
    assert "\x1b" not in result.out


def test_once_as_json(run: Run, url: str) -> None:
    document = json.loads(run("top", "--url", url, "--json").out)
    assert (document["url"], document["status"]["jobs"][0]["health"]) == (url, "warning")
    assert document["incidents"][0]["started_at"] == "2026-11-29T19:36:00.500Z"
    (ranking,) = document["rankings"]
    assert (ranking["comm"], ranking["ranks"][0]["global_rank"], ranking["ranks"][0]["wait_newest_seconds"]) == (
        COMM, 3, 0.0
    )  # fmt: skip


def test_the_address_is_in_the_configuration(run: Run, url: str, tmp_path: Path) -> None:
    config = tmp_path / "sentinel.toml"
    config.write_text(f'[web]\nlisten_address = "{url.removeprefix("http://")}"\n')
    assert json.loads(run("top", "--config", config, "--json").out)["url"] == url
    assert run("top", "--set", f"web.listen_address={url.removeprefix('http://')}", "--once").status == 0


@pytest.mark.parametrize("options", [("--once",), ("--json",), ()])
def test_a_daemon_that_cannot_be_reached_is_3(run: Run, options: tuple[str, ...]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    result = run("top", "--url", url, *options)
    assert (result.status, result.out) == (3, "")
    assert f"error: cannot ask the daemon ({url}" in result.err
    assert "Connection refused" in result.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--interval", "soon"), "wrong --interval: 'soon' is not a duration"),
        (("--interval", "1ms"), "less than 500ms"),
        (("--url", "host"), "--url"),
        (("--username", "a"), "belong together"),
        (("--set", "web.listen_address=:0"), "its port is chosen when the daemon starts"),
        (("--config", "/none.toml"), "no configuration file"),
    ],
)
def test_wrong_usage_is_2(run: Run, options: tuple[str, ...], said: str) -> None:
    result = run("top", "--once", *options)
    assert (result.status, result.out) == (2, "")
    assert said in result.err


def test_where_a_daemon_serves(tmp_path: Path) -> None:
    def of(address: str, file: Path | None = None) -> str:
        return daemon_url(WebSettings(listen_address=address, config_file=file))

    assert of("127.0.0.1:9848") == "http://127.0.0.1:9848"
    assert of(":9848") == of("0.0.0.0:9848") == "http://127.0.0.1:9848"
    assert of("[::]:9848") == "http://[::1]:9848"
    assert of("sentinel.example:1") == "http://sentinel.example:1"
    file = tmp_path / "web.yml"
    file.write_text("basic_auth_users: {a: b}\n")
    assert of(":9848", file) == "http://127.0.0.1:9848"
    file.write_text("tls_server_config: {cert_file: none.pem, key_file: none.key}\n")
    assert of(":9848", file) == "https://127.0.0.1:9848"  # whose keys are the daemon's to read
    file.unlink()
    with pytest.raises(ConfigError, match=r"with TLS .*web.yml.*--url https"):
        of(":9848", file)
