"""Communicators, jobs and roles."""

import numpy as np
from cluster.job import Job

from sentinel.measure.membership import MembershipReader, ranks_text
from sentinel.model.snapshot import CommunicatorTable, Snapshot


def test_ranks_as_text() -> None:
    assert ranks_text([3, 1, 2, 0]) == "0-3"
    assert ranks_text([0, 8, 16, 24]) == "0-24:8"
    assert ranks_text([0, 5]) == "0,5"
    assert ranks_text([0, 1, 5]) == "0,1,5"
    assert ranks_text([]) == ""
    scattered = [number * number for number in range(200)]
    assert ranks_text(scattered).startswith("sha256:")
    assert ranks_text(scattered) == ranks_text(scattered[::-1])


def snapshot_of(job: Job, rows: list[tuple[str, int, int, str, str]]) -> Snapshot:
    """A snapshot whose communicators are (comm, rank, global_rank, node, job_id)."""
    code = job.vocabulary.code
    table = [
        (code(comm), rank, global_rank, 2, 1, 0, code(node), 0, 0, code(job_id))
        for comm, rank, global_rank, node, job_id in rows
    ]
    base = next(job.ticks(1))
    columns = np.array(table, dtype=np.int32).T
    return Snapshot(
        base.time,
        base.vocabulary,
        CommunicatorTable(*columns),
        base.cells,
        base.started,
        base.in_flight,
        base.sampled_at,
    )


def test_jobs_without_a_name_are_told_apart_by_the_processes_they_share() -> None:
    rows = [
        ("aa", 0, 0, "n1", ""),
        ("aa", 1, 1, "n1", ""),
        ("ab", 0, 1, "n1", ""),  # shares a process with aa
        ("bb", 0, 0, "n2", ""),
        ("bb", 1, 1, "n2", ""),
        ("cc", 0, 0, "n1", "slurm-7"),  # same node and rank as aa, but a job with a name
    ]
    job = Job()
    membership = MembershipReader().read(snapshot_of(job, rows))
    jobs = {communicator.id: communicator.job for communicator in membership.communicators.values()}
    assert jobs == {"aa": "aa", "ab": "aa", "bb": "bb", "cc": "slurm-7"}


def test_members_and_roles() -> None:
    job = Job()
    snapshot = snapshot_of(job, [("aa", 0, 4, "n1", "j"), ("aa", 1, -1, "n2", "j")])
    membership = MembershipReader().read(snapshot)
    comm = job.vocabulary.code("aa")
    member = membership.member(comm, 0)
    assert member is not None
    assert (member.global_rank, member.node) == (4, "n1")
    # A global rank that is not known is the rank itself.
    assert membership.communicators[comm].role.members == "1,4"
    assert membership.member(comm, 2) is None
    assert membership.member(comm + 1000, 0) is None


def test_is_read_anew_only_when_it_changes() -> None:
    reader, job = MembershipReader(), Job()
    first = reader.read(next(job.ticks(1)))
    assert reader.read(next(job.ticks(1))) is first
    job.silent = {1}
    assert reader.read(next(job.ticks(1))) is not first
