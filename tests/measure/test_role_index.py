"""Row numbers by what series are in their job, whatever id their communicator has."""

from dataclasses import replace

import numpy as np
from cluster.fabric import Ring, iid

from sentinel.measure.labels import Labels
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Communicator, Membership
from sentinel.measure.role_index import RoleIndex
from sentinel.measure.row_space import Column


def measured() -> tuple[Ring, Lateness]:
    job = Ring(nranks=4, noise=iid(0.0), cells=(("AllReduce", "1024", 0.01, 200),))
    return job, next(job.ticks(1)).lateness


def in_another(lateness: Lateness, comm: int) -> Lateness:
    """The same, measured in a communicator with another id."""
    names = ("comm", "rank", "op", "size", "algo", "proto")
    columns = dict(zip(names, lateness.labels.columns, strict=True))
    return replace(lateness, labels=Labels(**columns | {"comm": np.full_like(lateness.comm, comm)}))


def twice(lateness: Lateness, other: Lateness) -> Lateness:
    """Both in one tick."""
    names = ("comm", "rank", "op", "size", "algo", "proto")
    pairs = zip(lateness.labels.columns, other.labels.columns, strict=True)
    return replace(lateness, labels=Labels(**dict(zip(names, map(np.concatenate, pairs), strict=True))))


def renamed(membership: Membership, comm: int) -> dict[int, Communicator]:
    (known,) = membership.communicators.values()
    return {comm: replace(known, code=comm)}


def test_numbers_stay_when_the_id_changes() -> None:
    job, lateness = measured()
    index = RoleIndex()
    before = index.rows(lateness, job.membership, job.vocabulary)
    other = job.vocabulary.code("restarted")
    after = index.rows(in_another(lateness, other), Membership(renamed(job.membership, other)), job.vocabulary)
    assert before.tolist() == after.tolist() == [0, 1, 2, 3]
    assert [key[1] for key in index.keys.values()] == [0, 1, 2, 3]


def test_who_is_not_known_has_no_number() -> None:
    job, lateness = measured()
    assert RoleIndex().rows(lateness, Membership({}), job.vocabulary).tolist() == [-1] * 4


def test_of_two_communicators_with_one_role_the_first_has_the_number() -> None:
    job, lateness = measured()
    other = job.vocabulary.code("twin")
    both = Membership({**job.membership.communicators, **renamed(job.membership, other)})
    index = RoleIndex()
    assert index.rows(twice(lateness, in_another(lateness, other)), both, job.vocabulary).tolist() == [
        *range(4),
        *[-1] * 4,
    ]
    assert index.rows(in_another(lateness, other), both, job.vocabulary).tolist() == [0, 1, 2, 3]


def test_a_role_that_nobody_has_for_long_makes_room() -> None:
    job, lateness = measured()
    other = job.vocabulary.code("restarted")
    nobody, restarted = Membership({}), Membership(renamed(job.membership, other))
    index = RoleIndex()
    learnt = Column(index, 0.0)
    learnt[index.rows(lateness, job.membership, job.vocabulary)] = 1.0
    index.forget(job.membership, 0.0, 100.0)
    index.forget(nobody, 10.0, 100.0)
    index.forget(Membership({}), 109.0, 100.0)
    assert learnt[index.rows(in_another(lateness, other), restarted, job.vocabulary)].tolist() == [1.0] * 4
    index.forget(restarted, 109.0, 100.0)  # it is back
    index.forget(nobody, 200.0, 100.0)
    index.forget(Membership({}), 299.0, 100.0)
    assert len(index.live) == len(index.keys) == len(index.members) == 4
    index.forget(Membership({}), 300.0, 100.0)
    assert len(index.live) == len(index.keys) == len(index.members) == 0
    # The same series of the same membership as before: what was known of them must not be used.
    rows = index.rows(in_another(lateness, other), restarted, job.vocabulary)
    assert rows.tolist() == [0, 1, 2, 3]
    assert learnt[rows].tolist() == [0.0] * 4
    assert [key[1] for _, key in sorted(index.keys.items())] == [0, 1, 2, 3]
    assert len(index) == 4
