# SPDX-License-Identifier: Apache-2.0
"""Conversations with a real TCP server."""

import socket
from typing import Any

import pytest
from nccl_endpoint.address import Address
from nccl_exporter.ras.client import Limits, RasError, ask
from servers.ras_service import RECORDED, RasService

QUICK = Limits(greeting_seconds=0.1, answer_seconds=0.1)


def failure(service: RasService, limits: Limits | None = None) -> RasError:
    with pytest.raises(RasError) as caught:
        ask(service.address, limits or Limits())
    return caught.value


def test_answer(service: RasService) -> None:
    assert ask(service.address, Limits()) == RECORDED
    assert service.commands == [b"CLIENT PROTOCOL 2\n", b"SET FORMAT json\n", b"VERBOSE STATUS\n"]


def test_replies_that_come_at_once(service: RasService) -> None:
    service.lines = [b"SERVER PROTOCOL 2\r\nOK\r\n", b""]
    assert ask(service.address, Limits()) == RECORDED


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RasError, match="connect: Connection refused"):
        ask(Address("127.0.0.1", port), Limits())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lines": [b"220 mail\n"]}, "protocol: it greeted with b'220 mail'"),
        ({"lines": [b"x" * 5000]}, "protocol: its line does not end"),
        (
            {"lines": [b"SERVER PROTOCOL 2\n", b"ERROR: Unknown command SET FORMAT json\n"]},
            "unsupported: it has no JSON",
        ),
    ],
)
def test_another_conversation(service: RasService, changes: dict[str, Any], message: str) -> None:
    for name, value in changes.items():
        setattr(service, name, value)
    assert str(failure(service)).startswith(message)


def test_one_that_hangs_up_while_it_greets(service: RasService) -> None:
    service.lines, service.leaves = [b"SERVER PROTOCOL 2\n", b"O"], True
    assert str(failure(service)) == "closed: it hung up before it had greeted"


def test_too_much(service: RasService) -> None:
    service.text = b"x" * 200_000
    service.hangs = True
    assert str(failure(service, Limits(answer_bytes=100_000))) == "size: more than 100000 bytes"


@pytest.mark.parametrize("lines", [[], [b"SERVER PROTOCOL"], [b"SERVER PROTOCOL 2\n", b"OK\n"]])
def test_one_that_does_not_go_on(service: RasService, lines: list[bytes]) -> None:
    service.lines = lines
    service.gate.clear()
    assert str(failure(service, QUICK)) == "timeout: no answer in time"


def test_one_that_never_ends(service: RasService) -> None:
    service.hangs = True
    assert failure(service, QUICK).reason == "timeout"
