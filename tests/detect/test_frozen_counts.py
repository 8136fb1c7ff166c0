"""Counts that stand still and differ: whom they accuse, and what they leave alone."""

from collections.abc import Mapping

import numpy as np

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Assessment, Finding, Verdict
from sentinel.model.snapshot import CellTable, CommunicatorTable, InFlightTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary

SETTINGS = DetectionSettings.model_validate({"stalled": {"stall_after": "10s"}})
WORLD, LEFT, RIGHT = "00000000000000aa", "00000000000000bb", "00000000000000cc"

Counts = Mapping[str, Mapping[int, Mapping[str, float]]]  # launched, by communicator, global rank and operation


class Job:
    """Two hosts of two ranks, about which nothing is known but what they have launched."""

    def __init__(self) -> None:
        self.vocabulary, self.time = Vocabulary(), 1_000.0
        self.detector = Detector(SETTINGS)

    def tick(self, counts: Counts, in_flight: Mapping[tuple[str, int], float] | None = None) -> Assessment:
        """Two seconds later."""
        self.time += 2.0
        code = self.vocabulary.code
        place = {(comm, rank): place for comm in counts for place, rank in enumerate(sorted(counts[comm]))}
        who = [
            (code(comm), at, rank, len(counts[comm]), 2, code(""), code(f"node{rank // 2}"), code(str(rank % 2)), 0, 0)
            for (comm, rank), at in place.items()
        ]
        rows = [
            (code(comm), place[comm, rank], code(op), count)
            for comm, ranks in counts.items()
            for rank, launched in ranks.items()
            for op, count in launched.items()
        ]
        ages = np.array([(in_flight or {}).get(key, 0.0) for key in place])
        table = CommunicatorTable(*np.array(who, dtype=np.int32).T)
        started = np.array([row[:3] for row in rows], dtype=np.int32).T
        return self.detector.step(
            Snapshot(
                time=self.time,
                vocabulary=self.vocabulary,
                communicators=table,
                cells=CellTable(*np.empty((6, 0), dtype=np.int32), *np.empty((3, 0))),
                started=StartedTable(*started, np.array([row[3] for row in rows])),
                in_flight=InFlightTable(table.comm, table.rank, ages),
                sampled_at=np.full(len(who), self.time),
            )
        )

    def rest(self, counts: Counts, ticks: int = 10) -> list[Finding]:
        """What is found while nothing moves."""
        return [finding for _ in range(ticks) for finding in self.tick(counts).findings]


def same(count: float, *ranks: int) -> dict[int, dict[str, float]]:
    return {rank: {"AllReduce": count} for rank in ranks}


def named(findings: list[Finding]) -> set[tuple[int, ...]]:
    assert all(finding.culprit.verdict is Verdict.STALLED for finding in findings)
    return {finding.culprit.ranks for finding in findings}


def test_who_is_behind_is_named_after_the_time_that_the_configuration_gives_it() -> None:
    job, counts = Job(), {WORLD: same(101, 0, 1, 2) | same(100, 3)}
    assert job.rest(counts, ticks=6) == []
    found = job.rest(counts)
    assert named(found) == {(3,)}
    assert found[0].evidence["operations_behind"] == [{"rank": 3, "operations": 1.0}]
    assert found[0].victims == 3


def test_counts_that_are_the_same_accuse_nobody() -> None:
    assert Job().rest({WORLD: same(100, 0, 1, 2, 3)}, ticks=40) == []


def test_counts_that_move_accuse_nobody() -> None:
    job = Job()
    for count in range(40):
        assert not job.tick({WORLD: same(101 + count, 0, 1, 2) | same(100 + count, 3)}).findings


def test_one_rank_that_still_launches_is_no_standstill() -> None:
    job = Job()
    for count in range(40):
        assert not job.tick({WORLD: same(100, 0, 1, 2) | same(10 + count, 3)}).findings


def test_the_chain_is_followed_to_the_one_that_waits_for_nobody() -> None:
    # Rank 1 keeps the world waiting, since it waits for rank 0 in another communicator.
    counts = {WORLD: same(101, 2, 3) | same(100, 0, 1), LEFT: same(51, 1) | same(50, 0)}
    assert named(Job().rest(counts)) == {(0,)}


def test_who_is_busy_in_another_communicator_is_not_stuck() -> None:
    job = Job()
    for count in range(40):
        assert not job.tick({WORLD: same(101, 0, 1, 2) | same(100, 3), RIGHT: same(count, 2, 3)}).findings


def test_a_difference_that_the_job_has_lived_with_is_not_what_it_waits_for() -> None:
    job, strange = Job(), same(101, 0, 1, 2) | same(100, 3)
    for count in range(20):
        job.tick({WORLD: strange, LEFT: same(count, 0, 1), RIGHT: same(count, 2, 3)})
    assert job.rest({WORLD: strange, LEFT: same(19, 0, 1), RIGHT: same(19, 2, 3)}, ticks=40) == []


def test_different_operations_are_a_stall_without_a_culprit() -> None:
    counts = {WORLD: {0: {"AllReduce": 11, "AllGather": 10}, 1: {"AllReduce": 10, "AllGather": 11}}}
    found = Job().rest(counts)
    assert named(found) == {()}
    assert found[0].culprit.comm == WORLD


def test_a_rank_of_which_a_count_is_missing_is_not_accused() -> None:
    both = {"AllReduce": 11.0, "AllGather": 10.0}
    assert named(Job().rest({WORLD: {0: both, 1: {"AllReduce": 9.0}, 2: both, 3: both}})) <= {()}


def test_most_ranks_behind_one_accuse_nobody() -> None:
    found = Job().rest({WORLD: same(101, 0) | same(100, 1, 2, 3)})
    assert named(found) == {()}


def test_what_waits_by_its_count_is_no_culprit_of_those_that_wait_in_flight() -> None:
    # Ranks 0 and 1 were timed; 2 waits as they do, in an operation that its sampling left out.
    job, counts = Job(), {WORLD: same(101, 0, 1, 2) | same(100, 3)}
    found = [
        finding
        for tick in range(10)
        for finding in job.tick(counts, {(WORLD, 0): 2.0 * tick, (WORLD, 1): 2.0 * tick}).findings
    ]
    assert named(found) == {(3,)}
