# SPDX-License-Identifier: Apache-2.0
"""Names and passwords."""

import base64
from collections.abc import Callable

import bcrypt
import httpx
import pytest
from nccl_endpoint.server import Server
from nccl_endpoint.users import Users

HASH = bcrypt.hashpw(b"right", bcrypt.gensalt(4))
CONFIGURATION = f'basic_auth_users: {{prometheus: "{HASH.decode()}"}}\n'


def header(name: str, password: str | bytes) -> str:
    raw = password.encode() if isinstance(password, str) else password
    return "Basic " + base64.b64encode(name.encode() + b":" + raw).decode()


class Check:
    """bcrypt, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, bytes]] = []

    def __call__(self, password: bytes, hashed: bytes) -> bool:
        self.asked.append((password, hashed))
        return bcrypt.checkpw(password, hashed)


@pytest.fixture
def check() -> Check:
    return Check()


@pytest.fixture
def users(check: Check) -> Users:
    return Users({"prometheus": HASH, "other": bcrypt.hashpw(b"another", bcrypt.gensalt(5))}, check, most=2)


def test_right_password(users: Users) -> None:
    assert users.admit(header("prometheus", "right"))
    assert users.admit(header("prometheus", "right").replace("Basic", "bAsIc"))


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Bearer " + base64.b64encode(b"prometheus:right").decode(),
        "Basic \u00fc",
        header("prometheus", "wrong"),
        header("prometheus", ""),
        header("prometheus", "another"),
        header("Prometheus", "right"),
        header("", "right"),
        header("prometheus:right", ""),
        header("prometheus", b"right\0"),
        header("prometheus", b"\xff"),
    ],
)
def test_everything_else(users: Users, given: str | None) -> None:
    assert not users.admit(given)


def test_right_once_is_right_again_without_bcrypt(users: Users, check: Check) -> None:
    for _ in range(3):
        assert users.admit(header("prometheus", "right"))
    assert len(check.asked) == 1


def test_wrong_is_never_remembered(users: Users, check: Check) -> None:
    for _ in range(3):
        assert not users.admit(header("prometheus", "wrong"))
    assert len(check.asked) == 3


def test_unknown_name_costs_as_much_as_a_wrong_password(users: Users, check: Check) -> None:
    assert not users.admit(header("nobody", "wrong"))
    assert not users.admit(header("other", "wrong"))
    (_, for_nobody), (_, for_other) = check.asked
    assert for_nobody[:7] == for_other[:7] == b"$2b$05$"


def test_unknown_name_stays_out_whatever_bcrypt_says() -> None:
    assert not Users({"prometheus": HASH}, lambda *_: True).admit(header("nobody", "right"))


def test_memory_is_bounded(check: Check) -> None:
    users = Users(dict.fromkeys("abc", HASH), check, most=2)
    for name in "abca":
        assert users.admit(header(name, "right"))
    assert len(check.asked) == 4


def test_memory_holds_no_password(users: Users) -> None:
    users.admit(header("prometheus", "right"))
    assert b"right" not in b"".join(users._verified)
    assert {len(digest) for digest in users._verified} == {32}


def test_name_and_password_cannot_trade_bytes(check: Check) -> None:
    users = Users({"a": HASH, "ab": HASH}, check)
    assert users.admit(header("a", "right"))
    assert not users.admit(header("ab", "ight"))


@pytest.mark.parametrize("prefix", [b"$2a$", b"$2b$", b"$2y$"])
def test_hashes_of_other_programs(prefix: bytes) -> None:
    assert Users({"prometheus": prefix + HASH[4:]}).admit(header("prometheus", "right"))


def test_password_longer_than_bcrypt_looks_at() -> None:
    users = Users({"prometheus": bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4))})
    assert users.admit(header("prometheus", "x" * 80))
    assert not users.admit(header("prometheus", "x" * 71))


@pytest.mark.parametrize("path", ["/metrics", "/-/healthy", "/", "/nothing"])
@pytest.mark.parametrize("given", [None, ("prometheus", "wrong"), ("nobody", "right")])
def test_every_page_is_protected(
    serve: Callable[..., Server],
    client: Callable[..., httpx.Client],
    path: str,
    given: tuple[str, str] | None,
) -> None:
    server = serve(CONFIGURATION)
    answer = client(server).get(path, auth=given)
    assert (answer.status_code, answer.content) == (401, b"")
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="a-program"'
    assert server.access.refused["credentials"] == 1


def test_who_may_not_ask_does_not_learn_the_methods(
    serve: Callable[..., Server], client: Callable[..., httpx.Client]
) -> None:
    asked = client(serve(CONFIGURATION))
    assert asked.post("/metrics").status_code == 401
    assert asked.post("/metrics", auth=("prometheus", "right")).status_code == 405


def test_who_may_ask(serve: Callable[..., Server], client: Callable[..., httpx.Client]) -> None:
    assert client(serve(CONFIGURATION), auth=("prometheus", "right")).get("/metrics").status_code == 200


def test_client_certificate_and_password(
    serve: Callable[..., Server], client: Callable[..., httpx.Client], tls_with: Callable[..., str]
) -> None:
    server = serve(
        tls_with("client_auth_type: RequireAndVerifyClientCert\nclient_ca_file: authority.pem") + CONFIGURATION
    )
    asked = client(server, certificate="client")
    assert asked.get("/metrics").status_code == 401
    assert asked.get("/metrics", auth=("prometheus", "right")).status_code == 200
