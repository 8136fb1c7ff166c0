"""Processes, and which of their waits can be compared."""

import numpy as np
import pytest
from cluster.waiting import Job

from sentinel.measure.processes import Processes, WaitLayout, WaitLayoutReader
from sentinel.measure.waits import Waits


def laid_out(job: Job, received: list[tuple[str, int, int]]) -> tuple[WaitLayout, Waits]:
    waits = job.waits(dict.fromkeys(received, 0.1))
    return WaitLayoutReader().read(waits, job.membership), waits


def test_a_process_is_one_in_all_of_its_communicators() -> None:
    job = Job({"world": range(4), "pair": (3, 1)})
    processes = Processes.of(job.membership)
    assert processes.keys == [("job", "node", rank) for rank in range(4)]
    assert processes.number[job.code("pair"), 0] == processes.number[job.code("world"), 3] == 3
    assert processes.comms[1] == [job.code("world"), job.code("pair")]


def test_groups_of_one_kind_without_names_are_told_apart_by_the_distance_of_their_members() -> None:
    job = Job({"t0": range(4), "t1": range(4, 8), "d0": (0, 4, 8, 12), "d1": (1, 5, 9, 13)})
    kind = {name: Processes.of(job.membership).kind[job.code(name)] for name in job.groups}
    assert kind["t0"] == kind["t1"]
    assert kind["d0"] == kind["d1"]
    assert kind["t0"] != kind["d0"]


@pytest.mark.parametrize(
    ("groups", "one", "other", "alike"),
    [
        # Round a ring everybody receives from behind.
        ({"r": range(4)}, ("r", 1, 0), ("r", 0, 3), True),
        ({"r": range(4)}, ("r", 1, 0), ("r", 1, 2), False),
        # Pipelines of two replicas.
        ({"p0": (0, 4, 8), "p1": (1, 5, 9)}, ("p0", 4, 0), ("p1", 5, 1), True),
        ({"p0": (0, 4, 8), "p1": (1, 5, 9)}, ("p0", 4, 0), ("p1", 5, 9), False),
        # Of pairs, one way and back.
        ({"p0": (0, 4), "p1": (1, 5)}, ("p0", 4, 0), ("p1", 5, 1), True),
        ({"p0": (0, 4), "p1": (1, 5)}, ("p0", 4, 0), ("p1", 1, 5), False),
    ],
)
def test_what_goes_the_same_way_is_alike(
    groups: dict[str, tuple[int, ...]], one: tuple[str, int, int], other: tuple[str, int, int], alike: bool
) -> None:
    layout, _ = laid_out(Job(groups), [one, other])
    assert (layout.direction[0] == layout.direction[1]) is np.bool_(alike)


def test_the_source_of_a_recv_and_the_rows_of_a_process() -> None:
    job = Job({"world": range(3), "pair": (2, 0)})
    layout, waits = laid_out(job, [("pair", 0, 2), ("world", 1, 0)])
    assert layout.source[:2].tolist() == [2, 0]
    rows = layout.rows_of(np.array([2, 0]))
    assert layout.process[rows].tolist() == [2, 2, 0, 0, 0]
    assert sorted(zip(waits.comm[rows[2:]].tolist(), waits.peer[rows[2:]].tolist(), strict=True)) == [
        (job.code("world"), -1),
        (job.code("pair"), -1),
        (job.code("pair"), 0),
    ]


def test_an_unknown_rank_is_nobody() -> None:
    job = Job({"world": range(3)})
    waits = job.waits({("world", 1, 0): 0.1})
    layout = WaitLayoutReader().read(
        Waits(waits.comm, waits.rank + 2, *(getattr(waits, name) for name in ("peer", "inside_ratio", "late_ratio"))),
        job.membership,
    )
    assert layout.process[0] == -1
