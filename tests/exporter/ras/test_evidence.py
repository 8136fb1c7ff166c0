# SPDX-License-Identifier: Apache-2.0
"""What is published about ranks."""

import json
from collections.abc import Callable
from typing import Any

from nccl_exporter.ras.answer import parse
from nccl_exporter.ras.evidence import FOREIGN_RANKS, behind, counts, publish
from nccl_exporter.ras.status import STATUSES, RasStatus
from servers.ras_service import RECORDED

Make = Callable[..., Any]


def test_recorded_stall_is_behind() -> None:
    half, world, other = parse(RECORDED)
    assert [behind(one, counts(one)) for one in (half, world, other)] == [frozenset(), {2}, {2}]


def test_rank_that_moved_is_not_behind(ras_rank: Make, ras_communicator: Make) -> None:
    def at(*launched: int) -> Any:
        return ras_communicator("x", *(ras_rank(rank, counts={"AllReduce": n}) for rank, n in enumerate(launched)))

    assert behind(at(10, 9, 10), counts(at(5, 5, 5))) == frozenset()
    assert behind(at(10, 5, 10), counts(at(5, 5, 5))) == {1}
    assert behind(at(10, 10), counts(at(10, 10))) == frozenset()


def test_nobody_is_behind_of_whom_no_answer_told_before(ras_rank: Make, ras_communicator: Make) -> None:
    one = ras_communicator("x", ras_rank(0, counts={"AllReduce": 9}), ras_rank(1, counts={"AllReduce": 8}))
    first = ras_communicator("x", ras_rank(0, counts={"AllReduce": 9}))
    assert behind(one, None) == frozenset()
    assert behind(one, counts(first)) == frozenset()


def test_what_a_rank_sends_is_its_own_affair() -> None:
    document = json.loads(RECORDED)
    for communicator in document["communicators"]:
        for rank in communicator["ranks"]:
            rank["collective_counts"]["SendRecv"] = rank["rank"]
    for given, plain in zip(parse(json.dumps(document).encode()), parse(RECORDED), strict=True):
        assert behind(given, counts(given)) == behind(plain, counts(plain))


def test_missing_rank_is_not_behind(ras_rank: Make, ras_communicator: Make) -> None:
    one = ras_communicator("x", ras_rank(0, counts={"AllReduce": 9}), ras_rank(1, missing=True))
    assert behind(one, counts(one)) == frozenset()


def test_own_ranks_with_everything_others_with_what_is_wrong(ras_rank: Make, ras_communicator: Make) -> None:
    one = ras_communicator(
        "x", ras_rank(0), ras_rank(1, abort=True), ras_rank(2, async_error=True), ras_rank(3, missing=True), ras_rank(4)
    )
    statuses, excess = publish(7, one, {4}, {0, 1})
    assert excess == 0
    assert [(status.rank, status.status, status.value) for status in statuses] == [
        *((0, status, False) for status in STATUSES),
        *((1, status, status == "abort") for status in STATUSES),
        (2, "async_error", True),
        (3, "missing", True),
        (4, "behind", True),
    ]
    assert {status.comm_id for status in statuses} == {7}


def test_nothing_else_is_known_of_a_missing_rank(ras_rank: Make, ras_communicator: Make) -> None:
    statuses, _ = publish(7, ras_communicator("x", ras_rank(0, missing=True)), {0}, {0})
    assert statuses == [RasStatus(7, 0, "missing", True)]


def test_other_nodes_are_bounded(ras_rank: Make, ras_communicator: Make) -> None:
    ranks = [ras_rank(rank, missing=rank > 0) for rank in range(100)]
    statuses, excess = publish(7, ras_communicator("x", *ranks), (), {0})
    assert len(statuses) == len(STATUSES) + FOREIGN_RANKS
    assert excess == 99 - FOREIGN_RANKS
