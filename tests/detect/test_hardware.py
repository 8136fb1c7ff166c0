"""Where a fault stays when ranks move."""

from dataclasses import replace

import pytest

from sentinel.detect.hardware import HardwareMemory
from sentinel.measure.membership import Communicator, Membership, Role
from sentinel.model.incident import Culprit, Finding, Incident, Tier, Verdict

JOB = "train"
Place = tuple[int, str, str]  # rank, node, GPU


def finding(
    comm: str, place: Place, started_at: float, job: str = JOB, verdict: Verdict = Verdict.LATE_RANK
) -> Finding:
    rank, node, gpu = place
    culprit = Culprit(verdict, job, job, comm, "dp", (rank,), node, gpu[-1:])
    return Finding(culprit, 0.1, started_at, 7, {"gpu_uuid": gpu})


def there(*comms: str) -> Membership:
    role = Role(JOB, "dp", 8, 1, "0-7")
    return Membership({code: Communicator(code, comm, JOB, role, {}) for code, comm in enumerate(comms)})


def after_restart(earlier: Place, now: Place, job: str = JOB) -> dict[str, object]:
    memory = HardwareMemory()
    memory.step([finding("aa", earlier, 100.0)], there("aa"), 130.0)
    memory.step([], there("bb"), 200.0)
    (found,) = memory.step([finding("bb", now, 260.0, job)], there("bb"), 300.0)
    return dict(found.evidence)


@pytest.mark.parametrize(
    ("earlier", "now", "follows"),
    [
        ((3, "n0", "GPU-a3"), (11, "n0", "GPU-a3"), "gpu"),
        ((3, "n0", "GPU-a3"), (11, "n9", "GPU-a3"), "gpu"),  # the card was moved
        ((3, "n0", "GPU-a3"), (12, "n0", "GPU-a4"), "node"),
        ((3, "n0", "GPU-a3"), (3, "n1", "GPU-b3"), "rank"),
        ((3, "n0", "GPU-a3"), (3, "n0", "GPU-a3"), None),
        ((3, "n0", "GPU-a3"), (3, "n0", "GPU-a5"), None),  # rank or node: who knows
        ((3, "n0", ""), (11, "n0", ""), "node"),
    ],
)
def test_what_it_follows(earlier: Place, now: Place, follows: str | None) -> None:
    evidence = after_restart(earlier, now)
    assert evidence["follows"] == follows
    shown = evidence["earlier"]
    assert (shown["rank"], shown["node"], shown["gpu_uuid"]) == earlier
    assert (shown["job_id"], shown["verdict"], shown["started_at"]) == (JOB, "late_rank", "1970-01-01T00:01:40.000Z")


def test_without_a_uuid_the_place_in_the_node_tells_the_gpu() -> None:
    memory = HardwareMemory()
    for comm, rank, time in (("aa", 3, 100.0), ("bb", 11, 300.0)):
        culprit = Culprit(Verdict.LATE_RANK, JOB, JOB, comm, "dp", (rank,), "n0", "3")
        (found,) = memory.step([Finding(culprit, 0.1, time, 7, {"gpu_uuid": ""})], there(comm), time)
    assert found.evidence["follows"] == "gpu"


def test_what_has_nothing_in_common_is_not_shown() -> None:
    assert after_restart((3, "n0", "GPU-a3"), (5, "n1", "GPU-b5")).keys() == {"gpu_uuid", "follows"}


def test_another_job_on_the_same_gpu_follows_it_and_the_same_rank_of_another_job_is_nothing() -> None:
    assert after_restart((3, "n0", "GPU-a3"), (3, "n0", "GPU-a3"), job="other")["follows"] == "gpu"
    assert after_restart((3, "n0", "GPU-a3"), (3, "n1", "GPU-b3"), job="other")["follows"] is None


def test_within_one_run_nothing_has_moved() -> None:
    memory = HardwareMemory()
    both = there("aa", "bb")
    memory.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], both, 130.0)
    (same,) = memory.step([finding("bb", (3, "n0", "GPU-a3"), 100.0)], both, 160.0)
    (neighbour,) = memory.step([finding("bb", (4, "n0", "GPU-a4"), 150.0)], both, 160.0)
    assert same.evidence["follows"] is neighbour.evidence["follows"] is None
    assert "earlier" not in {**same.evidence, **neighbour.evidence}


def test_a_run_that_goes_on_beside_it_is_no_earlier_one() -> None:
    memory = HardwareMemory()
    memory.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], there("aa"), 130.0)
    (found,) = memory.step([finding("bb", (9, "n0", "GPU-a4"), 190.0, "other")], there("aa", "bb"), 200.0)
    assert found.evidence["follows"] is None


def test_what_is_said_first_stays_said() -> None:
    memory = HardwareMemory()
    memory.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], there("aa"), 130.0)
    found = [
        memory.step([finding("bb", (11, "n0", "GPU-a3"), 260.0)], there("bb"), 300.0 + 30 * tick)[0]
        for tick in range(100)
    ]
    assert all(each.evidence == found[0].evidence for each in found)
    assert found[0].evidence["follows"] == "gpu"
    # A third run, back where it was.
    (third,) = memory.step([finding("cc", (3, "n0", "GPU-a3"), 9000.0)], there("cc"), 9000.0)
    assert third.evidence["earlier"]["rank"] == 11


def test_the_gpu_tells_more_than_what_came_after() -> None:
    memory = HardwareMemory()
    memory.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], there("aa"), 130.0)
    memory.step([finding("bb", (5, "n0", "GPU-a6"), 200.0)], there("bb"), 230.0)
    (found,) = memory.step([finding("cc", (7, "n0", "GPU-a3"), 300.0)], there("cc"), 330.0)
    assert (found.evidence["follows"], found.evidence["earlier"]["rank"]) == ("gpu", 3)


def test_findings_that_name_nobody_or_several_are_left_alone() -> None:
    memory = HardwareMemory()
    nobody = finding("aa", (3, "n0", "GPU-a3"), 100.0)
    for ranks in ((), (3, 4)):
        one = replace(nobody, culprit=replace(nobody.culprit, ranks=ranks))
        assert memory.step([one], there("aa"), 130.0) == [one]
    fabric = finding("aa", (3, "n0", "GPU-a3"), 100.0, verdict=Verdict.SLOW_FABRIC)
    assert memory.step([fabric], there("aa"), 130.0) == [fabric]


def test_a_daemon_that_starts_anew_recalls_what_is_stored() -> None:
    before = HardwareMemory()
    before.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], there("aa"), 130.0)
    (told,) = before.step([finding("bb", (11, "n0", "GPU-a3"), 260.0)], there("bb"), 300.0)
    ended = incident("one", finding("aa", (3, "n0", "GPU-a3"), 100.0), ended_at=150.0)
    memory = HardwareMemory()
    memory.recall([ended, incident("two", told, ended_at=None)])
    (goes_on,) = memory.step([finding("bb", (11, "n0", "GPU-a3"), 260.0)], there("bb"), 400.0)
    assert goes_on.evidence == told.evidence
    fresh = HardwareMemory()
    fresh.recall([ended])
    (found,) = fresh.step([finding("bb", (11, "n0", "GPU-a3"), 260.0)], there("bb"), 400.0)
    assert found.evidence == told.evidence


def test_memory_is_bounded_in_time_and_number() -> None:
    memory = HardwareMemory()
    memory.step([finding("aa", (3, "n0", "GPU-a3"), 100.0)], there("aa"), 130.0)
    for number in range(1100):
        memory.step([finding(f"x{number}", (number, f"m{number}", f"GPU-{number}"), 200.0)], there(f"x{number}"), 200.0)
    assert len(memory._past) == 1024
    late = 200.0 + 31 * 86_400.0
    memory.step([finding("zz", (9, "n0", "GPU-a9"), late)], there("zz"), late)
    assert len(memory._past) == len(memory._current) == 1


def incident(id_: str, one: Finding, ended_at: float | None) -> Incident:
    return Incident(id_, one.culprit, Tier.P2, one.started_at, one.started_at + 30, ended_at, 0.1, 7, one.evidence)
