# SPDX-License-Identifier: Apache-2.0
"""Answers, recorded and bad."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nccl_exporter.ras.answer import parse
from nccl_exporter.ras.client import RasError
from servers.ras_service import RECORDED

MISSING = {"rank": 2, "host": "192.0.2.2", "pid": 992, "cuda_dev": 0, "nvml_dev": 0}
Edit = Callable[[dict[str, Any]], object]


def edited(edit: Edit) -> bytes:
    """The recording with one communicator, the world, changed."""
    document = json.loads(RECORDED)
    document["communicators"] = document["communicators"][1:2]
    edit(document["communicators"][0])
    return json.dumps(document).encode()


def test_recording() -> None:
    half, world, other = parse(RECORDED)
    assert [one.size for one in (half, world, other)] == [4, 8, 4]
    assert world.identity == ("0x69b5a2066176766e", "0x95fc08c18714820f:0x9052caa621bd50d3")
    assert [rank.pid for rank in world.ranks.values()] == [993, 989, 992, 991, 990, 996, 994, 995]
    assert [rank.counts["AllReduce"] for rank in world.ranks.values()] == [31, 31, 30, 31, 31, 31, 31, 31]
    assert not any(rank.missing or rank.abort or rank.async_error for rank in world.ranks.values())
    assert world.ranks[2].host == "192.0.2.2"


def test_missing_rank() -> None:
    def lose(world: dict[str, Any]) -> None:
        del world["ranks"][2]
        world["missing_ranks"] = [MISSING | {"status": {"unresponsive": True, "considered_dead": False}}]

    (world,) = parse(edited(lose))
    assert (world.ranks[2].missing, world.ranks[2].pid, world.ranks[2].counts) == (True, 992, {})
    assert sum(rank.missing for rank in world.ranks.values()) == 1


@pytest.mark.parametrize(("code", "is_error"), [(0, False), (6, True), (7, False), (-8, True)])
def test_error_is_what_is_neither_success_nor_in_progress(code: int, is_error: bool) -> None:
    (world,) = parse(edited(lambda world: world["ranks"][3]["status"].update(async_error=code)))
    assert [rank.async_error for rank in world.ranks.values()] == [rank == 3 and is_error for rank in range(8)]


def test_abort() -> None:
    (world,) = parse(edited(lambda world: world["ranks"][3]["status"].update(abort_flag=True)))
    assert [rank.rank for rank in world.ranks.values() if rank.abort] == [3]


@pytest.mark.parametrize(
    "edit",
    [
        lambda world: world.pop("ranks"),
        lambda world: world.pop("missing_ranks"),
        lambda world: world.update(size=0),
        lambda world: world.update(size=7),
        lambda world: world.update(size="8"),
        lambda world: world.update(size=1 << 40),
        lambda world: world.update(hash=7),
        lambda world: world.update(hash="x" * 257),
        lambda world: world.update(ranks={}),
        lambda world: world.update(ranks=[7]),
        lambda world: world["ranks"][0].update(rank=-1),
        lambda world: world["ranks"][0].update(rank=True),
        lambda world: world["ranks"][0].update(pid=1.5),
        lambda world: world["ranks"][0].update(status=[]),
        lambda world: world["ranks"][0]["status"].update(abort_flag=1),
        lambda world: world["ranks"][0]["collective_counts"].update(AllReduce=-1),
        lambda world: world["ranks"][0]["collective_counts"].update(AllReduce=None),
        lambda world: world.update(missing_ranks=[{}]),
    ],
)
def test_malformed(edit: Edit) -> None:
    with pytest.raises(RasError, match=r"^malformed: "):
        parse(edited(edit))


@pytest.mark.parametrize("text", [b"[]}", b"{}", b'{"communicators": {}}', b"NCCL}", b"\xff}", b"[" * 100_000 + b"}"])
def test_garbage(text: bytes) -> None:
    with pytest.raises(RasError, match=r"^malformed: "):
        parse(text)


@pytest.mark.parametrize("length", [0, 1, 5000, len(RECORDED) - 3])
def test_cut(length: int) -> None:
    with pytest.raises(RasError, match=r"^(closed|malformed): "):
        parse(RECORDED[:length])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(RECORDED) - 1), st.binary(min_size=1, max_size=3))
def test_any_change_of_bytes_is_read_or_refused(at: int, new: bytes) -> None:
    with suppress(RasError):
        parse(RECORDED[:at] + new + RECORDED[at + len(new) :])
