"""Which findings stand, given their chains."""

from cluster.waiting import Job

from sentinel.detect.wait_chain import Chain, Standing
from sentinel.detect.wait_verdict import judge
from sentinel.measure.processes import Process
from sentinel.model.incident import Culprit, Finding, Verdict


def process(rank: int) -> Process:
    return ("job", "node", rank)


def finding(rank: int, cost_ratio: float) -> Finding:
    culprit = Culprit(Verdict.LATE_RANK, "job", "job", "c", "", (rank,), "node", "0")
    return Finding(culprit, cost_ratio, 1.0, 3, {"lateness_seconds": 1.0})


def chains(*each: Chain) -> dict[Process, Chain]:
    return {chain.process: chain for chain in each}


VOCABULARY = Job({"t1": range(2)}).vocabulary
ROOT = Chain(process(0), Standing.ROOT, 0.0)


def test_a_root_stands_with_its_victims_and_what_it_costs_through_them() -> None:
    found = [finding(0, 0.05), finding(16, 0.5), finding(32, 0.4)]
    judged = judge(
        found,
        chains(
            ROOT,
            Chain(process(32), Standing.VICTIM, 0.9, (process(16), process(0))),
            Chain(process(16), Standing.VICTIM, 0.95, (process(0),)),
        ),
        VOCABULARY,
    )
    (root,) = judged.findings
    assert (root.culprit.ranks, root.cost_ratio) == ((0,), 0.5)
    assert root.evidence["lateness_seconds"] == 1.0
    assert root.evidence["late_because_of_it"] == {
        "ranks": 2,
        "first_ranks": [16, 32],
        "least_share_ratio": 0.9,
        "longest_chain": 2,
        "cost_ratio_in_own_communicator": 0.05,
    }
    assert judged.victims == {found[1].culprit.key, found[2].culprit.key}
    assert judged.held == frozenset()


def test_the_list_of_victims_is_capped_and_their_number_is_not() -> None:
    victims = [Chain(process(rank), Standing.VICTIM, 1.0, (process(0),)) for rank in range(1, 101)]
    (root,) = judge([finding(0, 0.05)], chains(ROOT, *victims), VOCABULARY).findings
    shown = root.evidence["late_because_of_it"]
    assert shown["ranks"] == 100
    assert shown["first_ranks"] == list(range(1, 17))


def test_a_root_that_nobody_waits_for_is_as_it_was() -> None:
    found = [finding(0, 0.05), finding(1, 0.05)]
    assert judge(found, chains(ROOT), VOCABULARY).findings == tuple(found)


def test_a_victim_whose_root_is_not_called_is_held() -> None:
    found = finding(16, 0.5)
    judged = judge([found], chains(Chain(process(16), Standing.HELD, 0.9, (process(0),))), VOCABULARY)
    assert judged == type(judged)((), frozenset({found.culprit.key}), frozenset())


def test_one_whose_root_is_never_called_stands_and_says_whom_it_waits_for() -> None:
    wire = VOCABULARY.code("t1")
    unresolved = Chain(process(16), Standing.UNRESOLVED, 0.9, (process(3), wire))
    circle = Chain(process(5), Standing.UNRESOLVED, 0.7, (process(6), process(5)), cycle=True)
    first, second = judge([finding(16, 0.5), finding(5, 0.1)], chains(unresolved, circle), VOCABULARY).findings
    assert first.evidence["waits_for"] == {
        "chain": ["rank 3 on node", "communicator t1"],
        "share_ratio": 0.9,
        "reason": "the last of the chain is not called late itself",
    }
    assert second.evidence["waits_for"]["reason"] == "each waits for the next"
