"""Where slow communicators meet is named, and the fabric only where it is slow everywhere."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from cluster.watched import Watched, name_of
from simulator.cluster import Cluster
from simulator.faults import Event, LateRank, SlowFabric, SlowLink
from simulator.noise import Ar1, Imbalance, Normal
from simulator.presets import hybrid

from sentinel.detect.fabric_history import FabricReading, Rise
from sentinel.detect.fabric_names import FabricNames, JobFabric
from sentinel.detect.slow_fabric_evidence import SlowCommunicator
from sentinel.measure.membership import Communicator, Member, Membership, Role
from sentinel.measure.transfers import Transfers
from sentinel.model.incident import Finding
from sentinel.model.snapshot import NetworkTable, Snapshot
from sentinel.model.vocabulary import Vocabulary

BEGIN = 3600.0
NOISES = {"iid": (Normal(0.02), Imbalance(0.005)), "ar1": (Normal(0.02), Ar1(0.01, 0.9), Imbalance(0.005))}


class WithoutSteps(Cluster):
    """Its network steps are not seen."""

    def snapshots(self, ticks: int) -> Iterator[Snapshot]:
        for snapshot in super().snapshots(ticks):
            yield replace(snapshot, network=NetworkTable.empty())


@pytest.fixture(params=[Cluster, WithoutSteps], ids=["steps", "no-steps"])
def kind(request: pytest.FixtureRequest) -> type[Cluster]:
    return request.param


def watched(kind: type[Cluster], noise: str, *events: Event) -> Watched:
    job = Watched(kind(hybrid(64), NOISES[noise], seed=3).add(*events))
    job.until(BEGIN + 600)
    return job


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("cost_ratio", [0.05, 0.1, 0.2])
def test_a_node_with_a_slow_card_is_named_and_none_of_those_that_wait_for_it(
    kind: type[Cluster], noise: str, cost_ratio: float
) -> None:
    job = watched(kind, noise, SlowLink(node=2, cost_ratio=cost_ratio, begin=BEGIN))
    assert {name_of(incident) for incident in job.opened} == {("slow_link", tuple(range(16, 24)))}
    (found,) = job.opened
    assert (found.culprit.node, found.culprit.gpu) == ("node00002", "")
    assert job.delay_ticks(found, BEGIN) <= (3 if cost_ratio >= 0.1 else 4)


def test_without_steps_the_evidence_says_where_slow_communicators_meet() -> None:
    job = watched(WithoutSteps, "iid", SlowLink(node=2, cost_ratio=0.1, begin=BEGIN))
    evidence = job.opened[0].evidence
    assert (evidence["kind"], evidence["common_node"], evidence["common_gpu"]) == ("common_node", "node00002", None)
    # One of its pair of nodes, and one of each of its eight ranks; all others that cross nodes are healthy.
    assert (evidence["slower_communicators"], evidence["healthy_communicators"]) == (9, 11)


@pytest.mark.parametrize("noise", NOISES)
def test_a_fabric_that_is_slow_everywhere_is_the_fabric(kind: type[Cluster], noise: str) -> None:
    job = watched(kind, noise, SlowFabric(cost_ratio=0.1, begin=BEGIN))
    assert [name_of(incident) for incident in job.opened] == [("slow_fabric", ())]
    assert job.delay_ticks(job.opened[0], BEGIN) <= 3


def test_a_late_rank_in_the_same_job_is_a_late_rank(kind: type[Cluster]) -> None:
    job = watched(kind, "iid", LateRank(rank=21, cost_ratio=0.1, begin=BEGIN))
    assert [name_of(incident) for incident in job.opened] == [("late_rank", (21,))]


# By name: the node of each member, and its GPU there.
COMMUNICATORS = {"ab": "a0b0", "ac": "a1c0", "ad": "a2d0", "bc": "b1c1", "cd": "c2d1", "bd": "b2d2", "b_d": "b3d3"}


class Job:
    """Communicators with a member on each of two nodes, and their names over time."""

    def __init__(self, gpus: Mapping[str, str] = COMMUNICATORS) -> None:
        self.gpus = gpus
        self.vocabulary = Vocabulary()
        self.names = FabricNames(lambda job_id: job_id != "deaf")
        self.job_id = "job"

    def communicators(self) -> dict[str, Communicator]:
        found = {}
        for code, (name, gpus) in enumerate(self.gpus.items()):
            places = [(gpus[at], gpus[at + 1]) for at in range(0, len(gpus), 2)]
            members = {
                rank: Member(rank, 10 * "abcd".index(node) + int(gpu), node, gpu, f"GPU-{node}{gpu}")
                for rank, (node, gpu) in enumerate(places)
            }
            found[name] = Communicator(code, name, "job", Role(self.job_id, "", 2, 2, name), members)
        return found

    def step(self, slow: str = "", healthy: str = "", undecided: str = "") -> list[Finding]:
        there = self.communicators()
        group = [slow_communicator(there[name]) for name in slow.split()]
        fabric = JobFabric(
            group, [there[name] for name in healthy.split()], [there[name] for name in undecided.split()]
        )
        membership = Membership({each.code: each for each in there.values()})
        standing = [one.communicator.code for one in group]
        return self.names.step({"job": fabric} if group else {}, standing, membership, self.vocabulary)

    def named(self, **communicators: str) -> tuple[str, tuple[int, ...], str, str]:
        (finding,) = self.step(**communicators)
        culprit = finding.culprit
        return culprit.verdict.value, culprit.ranks, culprit.node, culprit.gpu


def slow_communicator(communicator: Communicator) -> SlowCommunicator:
    one, none = np.ones(1), np.empty(0, dtype=np.int32)
    risen = Rise(one, one, 0 * one, 0.02)
    reading = FabricReading(np.array([communicator.code]), one, one, one, one, risen, risen, one)
    transfers = Transfers(none, none, none, none, none, *(np.empty(0) for _ in range(4)))
    return SlowCommunicator(communicator, 0.1, 100.0, reading, 0, transfers, 9.0, 8.0)


FABRIC = ("slow_fabric", (), "", "")
NODE = ("slow_link", (0, 1, 2), "a", "")


def test_a_node_is_named_with_all_of_the_job_s_ranks_there() -> None:
    assert Job().named(slow="ab ac", healthy="bc cd") == NODE


def test_a_gpu_is_named_where_its_node_is_healthy_elsewhere() -> None:
    job = Job({**COMMUNICATORS, "ac": "a0c0"})
    assert job.named(slow="ab ac", healthy="ad bc") == ("slow_link", (0,), "a", "0")


def test_where_most_are_slow_it_is_the_fabric_at_once() -> None:
    assert Job().named(slow="ab bc cd bd", healthy="ac ad") == FABRIC


def test_it_is_waited_for_those_that_are_about_to_be_slow() -> None:
    job = Job()
    assert job.step(slow="ab", healthy="bc cd", undecided="ac") == []
    assert job.named(slow="ab ac", healthy="bc cd") == NODE
    job = Job()
    # Were it slow as well, they would meet nowhere.
    assert job.step(slow="ab ac", healthy="bc cd", undecided="bd") == []
    assert job.named(slow="ab ac", healthy="bc cd bd") == NODE


def test_it_is_not_waited_for_ever() -> None:
    job = Job()
    waited = [job.step(slow="ab", healthy="bc cd", undecided="bd ad") for _ in range(3)]
    assert [len(findings) for findings in waited] == [0, 0, 1]
    assert waited[-1][0].culprit.verdict == "slow_fabric"


@pytest.mark.parametrize(
    ("first", "name", "later"),
    [
        ({"slow": "ab bc cd bd", "healthy": "ac ad"}, FABRIC, {"slow": "ab ac", "healthy": "bc cd"}),
        ({"slow": "ab ac", "healthy": "bc cd"}, NODE, {"slow": "ab bc cd bd", "healthy": "ac ad"}),
    ],
    ids=["fabric", "node"],
)
def test_a_name_stays_while_it_goes_on_and_when_it_comes_back(
    first: dict[str, str], name: tuple[object, ...], later: dict[str, str]
) -> None:
    job = Job()
    assert job.named(**first) == name
    assert job.named(**later) == name
    assert len(job.names.keys) == 1
    for _ in range(10):
        assert job.step() == []
    assert job.names.keys == set()
    assert job.named(**later) == name
    for _ in range(11):
        job.step()
    assert job.named(**later) != name


def test_a_fabric_that_turns_out_to_be_a_node_says_so_in_its_evidence() -> None:
    job = Job()
    job.step(slow="ab bc cd bd", healthy="ac ad")
    (finding,) = job.step(slow="ab ac", healthy="bc cd")
    assert finding.culprit.verdict == "slow_fabric"
    assert finding.evidence["common_node"] == "a"


def test_a_job_that_does_not_want_slow_links_hears_of_its_fabric() -> None:
    job = Job()
    job.job_id = "deaf"
    assert job.named(slow="ab ac", healthy="bc cd") == FABRIC
