# SPDX-License-Identifier: Apache-2.0
"""Which communicator is which."""

from collections.abc import Callable
from typing import Any

import pytest
from nccl_exporter.model import Communicator, Process
from nccl_exporter.ras.answer import parse
from nccl_exporter.ras.match import Matching, Roster, between, gather
from servers.ras_service import RECORDED

Make = Callable[..., Any]
Pair = tuple[Process, Communicator]


def match(pairs: list[Pair], theirs: list[Any], hosts: frozenset[str] = frozenset()) -> Matching:
    return Roster(theirs, hosts).match(list(gather(pairs).values()))


def names(matching: Matching) -> dict[int, str]:
    return {comm: theirs.identity[0] for comm, theirs in matching.found.items()}


def test_recorded_job(recorded_job: list[Pair]) -> None:
    matching = match(recorded_job, parse(RECORDED))
    assert names(matching) == {0xA: "0x69b5a2066176766e", 0xB: "0x8732a8efb479fae9", 0xC: "0x2f17126425d3f2ee"}
    assert (matching.not_found, matching.ambiguous) == (0, 0)


def test_one_process_of_it_is_enough(recorded_job: list[Pair]) -> None:
    assert names(match(recorded_job[4:6], parse(RECORDED))) == {
        0xA: "0x69b5a2066176766e",
        0xB: "0x8732a8efb479fae9",
    }


@pytest.mark.parametrize(("nranks", "pid", "fits"), [(2, 100, True), (0, 100, True), (3, 100, False), (2, 101, False)])
def test_size_and_member(pair: Make, ras_rank: Make, ras_communicator: Make, nranks: int, pid: int, fits: bool) -> None:
    theirs = ras_communicator("x", ras_rank(0), ras_rank(1, 200))
    matching = match([pair(1, 0, nranks, pid)], [theirs])
    assert (len(matching.found), matching.not_found, matching.ambiguous) == (fits, not fits, 0)


def test_every_member_has_to_fit(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = ras_communicator("x", ras_rank(0, 100), ras_rank(1, 200))
    assert match([pair(1, 0, 2, 100), pair(1, 1, 2, 201)], [theirs]).found == {}


def test_process_that_ras_does_not_know_is_no_objection(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = ras_communicator("x", ras_rank(0, 100), ras_rank(1, -1, "unknown", missing=True), size=3)
    assert names(match([pair(1, rank, 3, 100 + rank) for rank in range(3)], [theirs])) == {1: "x"}


def test_same_pids_on_another_node(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = [ras_communicator(host, ras_rank(0, 7, host), ras_rank(1, 8, host)) for host in ("192.0.2.1", "192.0.2.2")]
    ours = [pair(1, 0, 2, 7), pair(1, 1, 2, 8)]
    assert match(ours, theirs).ambiguous == 1
    assert names(match(ours, theirs, frozenset({"192.0.2.2"}))) == {1: "192.0.2.2"}


def test_same_members_are_told_apart_by_counts(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = [
        ras_communicator(name, ras_rank(0, counts={"AllReduce": count, "AllGather": 5}))
        for name, count in (("many", 1000), ("few", 10))
    ]
    ours = [pair(1, 0, 1, 100, {"AllReduce": 12, "AllGather": 5}), pair(2, 0, 1, 100, {"AllReduce": 990})]
    assert names(match(ours, theirs)) == {1: "few", 2: "many"}


def test_equal_counts_are_left_out(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = [ras_communicator(name, ras_rank(0, counts={"AllReduce": 10})) for name in ("a", "b")]
    matching = match([pair(1, 0, 1, 100, {"AllReduce": 10}), pair(2, 0, 1, 100, {"AllReduce": 10})], theirs)
    assert (matching.found, matching.not_found, matching.ambiguous) == ({}, 0, 2)


def test_two_of_ours_do_not_share_one_of_theirs(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = [ras_communicator("new", ras_rank(0, counts={"AllReduce": 3}))]
    ours = [pair(1, 0, 1, 100, {"AllReduce": 500}), pair(2, 0, 1, 100, {"AllReduce": 4})]
    matching = match(ours, theirs)
    assert (names(matching), matching.ambiguous) == ({2: "new"}, 1)


def test_sends_do_not_count(pair: Make, ras_rank: Make, ras_communicator: Make) -> None:
    theirs = [
        ras_communicator("a", ras_rank(0, counts={"AllReduce": 10})),
        ras_communicator("b", ras_rank(0, counts={"AllReduce": 90})),
    ]
    ours = [pair(1, 0, 1, 100, {"AllReduce": 10}, sends=900), pair(2, 0, 1, 100, {"AllReduce": 90})]
    assert names(match(ours, theirs)) == {1: "a", 2: "b"}


def test_counts_at_the_moment_of_the_answer(pair: Make) -> None:
    before = gather([pair(1, 0, 1, 100, {"AllReduce": 100})])[1]
    after = gather([pair(1, 0, 1, 100, {"AllReduce": 300, "AllGather": 40})])[1]
    assert between(before, after, 0.25).started == {0: {"AllReduce": 150.0, "AllGather": 10.0}}
    assert between(None, after, 0.25) is after
