# SPDX-License-Identifier: Apache-2.0
"""A configuration that changes while it is served."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest
from nccl_endpoint.access import Access
from nccl_endpoint.errors import WebConfigError
from nccl_endpoint.server import Server

Serve = Callable[..., Server]
Client = Callable[..., httpx.Client]
TlsWith = Callable[..., str]


def users(name: str, password: bytes) -> str:
    return f'basic_auth_users: {{{name}: "{bcrypt.hashpw(password, bcrypt.gensalt(4)).decode()}"}}\n'


def test_without_a_file_everybody_may() -> None:
    config = Access().current()
    assert (config.tls, config.users, config.rate_limit, dict(config.headers)) == (None, None, None, {})


def test_bad_from_the_start(tmp_path: Path) -> None:
    with pytest.raises(WebConfigError):
        Access(tmp_path / "missing.yml")


def test_users_change_on_a_kept_connection(
    serve: Serve, client: Client, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="nccl_endpoint")
    asked = client(serve(users("old", b"1")))
    assert asked.get("/metrics", auth=("old", "1")).status_code == 200
    (directory / "web.yml").write_text(users("new", b"22"))
    assert asked.get("/metrics", auth=("old", "1")).status_code == 401
    assert asked.get("/metrics", auth=("new", "22")).status_code == 200
    assert caplog.messages == [f"the web configuration was read again: {directory}/web.yml"]


def test_certificate_changes_with_the_next_connection(
    serve: Serve, client: Client, directory: Path, tls_with: TlsWith
) -> None:
    server = serve(tls_with())
    before = client(server)
    assert before.get("/metrics").status_code == 200
    for name in ("server.pem", "server.key"):
        shutil.copy(directory / "stranger" / name, directory / name)
    assert before.get("/metrics").status_code == 200
    assert client(server, "stranger/authority").get("/metrics").status_code == 200
    with pytest.raises(httpx.ConnectError):
        client(server).get("/metrics")


def test_bad_file_keeps_the_old_one_and_is_said_once(
    serve: Serve, client: Client, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = directory / "web.yml"
    server = serve(users("old", b"1"))
    asked = client(server, auth=("old", "1"))
    file.write_text("basic_auth_users: [")
    for _ in range(3):
        assert asked.get("/metrics").status_code == 200
    (message,) = caplog.messages
    assert message.startswith(f"the web configuration stays as it was: cannot use the web configuration ({file}): not")
    assert not server.access.reload_succeeded
    file.write_text(users("new", b"2"))
    assert asked.get("/metrics").status_code == 401
    assert server.access.reload_succeeded


def test_half_a_pair_of_certificate_and_key_is_waited_out(
    serve: Serve, client: Client, directory: Path, tls_with: TlsWith
) -> None:
    server = serve(tls_with())
    shutil.copy(directory / "stranger" / "server.pem", directory)
    assert client(server).get("/metrics").status_code == 200
    assert not server.access.reload_succeeded
    shutil.copy(directory / "stranger" / "server.key", directory)
    assert client(server, "stranger/authority").get("/metrics").status_code == 200
    assert server.access.reload_succeeded


def test_file_that_a_bad_configuration_named_is_watched(directory: Path, tls_with: TlsWith) -> None:
    file = directory / "web.yml"
    file.write_text(tls_with())
    access = Access(file)
    file.write_text("tls_server_config: {cert_file: later.pem, key_file: later.key}")
    access.current()
    assert not access.reload_succeeded
    shutil.copy(directory / "server.key", directory / "later.key")
    shutil.copy(directory / "server.pem", directory / "later.pem")
    access.current()
    assert access.reload_succeeded


def test_mounted_secret_that_is_switched_by_a_link(directory: Path) -> None:
    for number, text in enumerate((users("old", b"1"), users("new", b"1"))):
        (directory / f"{number}").mkdir()
        (directory / f"{number}" / "web.yml").write_text(text)
    link = directory / "data"
    link.symlink_to("0")
    access = Access(link / "web.yml")
    first = access.current()
    (directory / "next").symlink_to("1")
    (directory / "next").rename(link)
    assert access.current() is not first


@pytest.mark.parametrize("gone", ["tls", "users"])
def test_protection_does_not_go_away_while_it_runs(
    gone: str, directory: Path, tls_with: TlsWith, caplog: pytest.LogCaptureFixture
) -> None:
    parts = {"tls": tls_with(), "users": users("old", b"1")}
    file = directory / "web.yml"
    file.write_text("".join(parts.values()))
    access = Access(file)
    before = access.current()
    file.write_text("".join(text for name, text in parts.items() if name != gone))
    assert access.current() is before
    assert "would open what was protected. Restart to serve without it" in caplog.text


def test_file_that_is_gone_keeps_the_old_one(directory: Path) -> None:
    file = directory / "web.yml"
    file.write_text(users("old", b"1"))
    access = Access(file)
    before = access.current()
    file.unlink()
    assert access.current() is before
    assert not access.reload_succeeded


def test_protection_can_be_added(serve: Serve, client: Client, directory: Path, tls_with: TlsWith) -> None:
    server = serve("")
    assert client(server).get("/metrics").status_code == 200
    (directory / "web.yml").write_text(tls_with())
    assert client(server).get("/metrics").url.scheme == "https"


def test_headers_are_on_every_answer(serve: Serve, client: Client) -> None:
    asked = client(serve("http_server_config: {headers: {X-Frame-Options: deny}}\n" + users("a", b"1")))
    answers: list[Any] = [
        asked.get("/metrics"),
        asked.get("/nothing", auth=("a", "1")),
        asked.get("/metrics", auth=("a", "1")),
    ]
    assert [(answer.status_code, answer.headers["X-Frame-Options"]) for answer in answers] == [
        (401, "deny"),
        (404, "deny"),
        (200, "deny"),
    ]
