"""Chains, tick by tick, from what ranks wait."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import pytest
from cluster.waiting import Job

from sentinel.config.detection_wait_chain import WaitChainSettings
from sentinel.detect.late_rank import LateSeries
from sentinel.detect.wait_chain import Chain, Standing, WaitChain
from sentinel.measure.processes import WaitLayoutReader
from sentinel.measure.waits import Waits

HOLD_TICKS = 3
MIN_TICKS = 5

# Four replicas of two stages: rank r of the first sends to r + 4 of the second.
STAGES = {"s0": range(4), "s1": range(4, 8)}
PIPES = {f"p{rank}": (rank, rank + 4) for rank in range(4)}
NORMAL = {(f"p{rank}", rank + 4, rank): 0.3 for rank in range(4)}


class Chains:
    """A chain test of one job."""

    def __init__(self, job: Job, **settings: object) -> None:
        self.job = job
        self._chain = WaitChain(WaitChainSettings.model_validate({"hold_ticks": HOLD_TICKS, **settings}), MIN_TICKS)
        self._layout = WaitLayoutReader()

    def step(
        self, waits: Waits, late: Sequence[LateSeries] = (), fit: Sequence[int] = (), slow: Sequence[int] = ()
    ) -> Mapping[int, Chain]:
        """By global rank."""
        layout = self._layout.read(waits, self.job.membership)
        return {process[2]: chain for process, chain in self._chain.step(waits, layout, late, fit, slow).items()}

    def learn(self, waits: Waits) -> None:
        for _ in range(MIN_TICKS):
            self.step(waits, fit=[self.job.code(name) for name in self.job.groups])


def path(chain: Chain) -> list[int]:
    return [node if isinstance(node, int) else node[2] for node in chain.path]


def pipeline() -> Job:
    return Job({**STAGES, **PIPES})


def test_who_waits_in_recv_for_a_late_rank_is_its_victim() -> None:
    job = pipeline()
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.5}, late={("s0", 1): 0.2, ("s1", 5): 0.21})
    chains = Chains(job).step(waits, [job.late("s0", 1), job.late("s1", 5)])
    assert chains[1] == Chain(("job", "node", 1), Standing.ROOT, 0.0)
    assert (chains[5].standing, path(chains[5])) == (Standing.VICTIM, [1])
    assert chains[5].share_ratio == pytest.approx(0.2 / 0.21)


def test_what_explains_little_of_a_lateness_excuses_nobody() -> None:
    job = pipeline()
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.38}, late={("s1", 5): 0.2})
    chain = Chains(job).step(waits, [job.late("s1", 5)])[5]
    assert (chain.standing, chain.share_ratio) == (Standing.ROOT, pytest.approx(0.4))


def test_what_it_has_always_waited_excuses_nobody() -> None:
    job = pipeline()
    chains = Chains(job)
    received = {**NORMAL, ("p1", 5, 1): 0.6}
    chains.learn(job.waits(received))
    assert chains.step(job.waits(received, late={("s1", 5): 0.2}), [job.late("s1", 5)])[5].standing is Standing.ROOT
    # Nobody else's normal is known: then all are compared as they are.
    assert Chains(job).step(job.waits(received, late={("s1", 5): 0.2}), [job.late("s1", 5)])[5].path


def test_lateness_that_it_always_had_needs_no_explanation() -> None:
    job = pipeline()
    chains = Chains(job)
    chains.learn(job.waits(NORMAL, late={("s1", 5): 0.2}))
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.4}, late={("s1", 5): 0.3})
    for _ in range(5):
        chain = chains.step(waits, [job.late("s1", 5)])[5]
    assert chain.share_ratio == pytest.approx(1.0, abs=0.05)


def test_a_victim_is_held_back_until_its_root_is_called_but_not_for_ever() -> None:
    job = pipeline()
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.5}, late={("s1", 5): 0.2})
    chains = Chains(job)
    standings = [chains.step(waits, [job.late("s1", 5)])[5].standing for _ in range(HOLD_TICKS + 2)]
    assert standings == [Standing.HELD] * HOLD_TICKS + [Standing.UNRESOLVED] * 2
    assert chains.step(waits, [job.late("s1", 5), job.late("s0", 1)])[5].standing is Standing.VICTIM
    # From then on it is held back anew, should the root's alarm end first.
    assert chains.step(waits, [job.late("s1", 5)])[5].standing is Standing.HELD


def test_a_chain_runs_through_ranks_that_nobody_called_late() -> None:
    stages = {f"s{stage}": range(4 * stage, 4 * stage + 4) for stage in range(3)}
    pipes = {f"p{rank}": (rank, rank + 4, rank + 8) for rank in range(4)}
    job = Job({**stages, **pipes})
    received = {(f"p{r}", r + 4 * s, r + 4 * (s - 1)): 0.3 for r in range(4) for s in (1, 2)}
    waits = job.waits({**received, ("p2", 6, 2): 0.5, ("p2", 10, 6): 0.5}, late={("s0", 2): 0.02, ("s2", 10): 0.2})
    chains = Chains(job).step(waits, [job.late("s0", 2, 0.02), job.late("s2", 10)])
    assert (chains[10].standing, path(chains[10])) == (Standing.VICTIM, [6, 2])


def test_a_cycle_has_no_root_and_accuses_nobody_for_as_long_as_a_victim_is_held() -> None:
    job = pipeline()
    received = {**NORMAL, **{(f"p{rank}", rank, rank + 4): 0.3 for rank in range(4)}}
    waits = job.waits({**received, ("p1", 5, 1): 0.5, ("p1", 1, 5): 0.5}, late={("s0", 1): 0.2, ("s1", 5): 0.2})
    late = [job.late("s0", 1), job.late("s1", 5)]
    chains = Chains(job)
    first = chains.step(waits, late)
    assert {rank: (chain.standing, chain.cycle, path(chain)) for rank, chain in first.items()} == {
        1: (Standing.HELD, True, [5, 1]),
        5: (Standing.HELD, True, [1, 5]),
    }
    for _ in range(HOLD_TICKS):
        last = chains.step(waits, late)
    assert {chain.standing for chain in last.values()} == {Standing.UNRESOLVED}


# Four tensor-parallel groups of four; rank r of each in one data-parallel group.
TENSOR = {f"t{group}": range(4 * group, 4 * group + 4) for group in range(4)}
DATA = {f"d{place}": range(place, 16, 4) for place in range(4)}


def test_a_collective_is_waited_in_for_the_rank_that_is_last() -> None:
    job = Job({**TENSOR, **DATA})
    inside = {("t1", rank): 0.3 for rank in (4, 6, 7)}
    late = {(f"d{rank - 4}", rank): 0.2 for rank in range(4, 8)} | {("t1", 5): 0.2}
    series = [job.late(f"d{rank - 4}", rank) for rank in range(4, 8)]
    chains = Chains(job).step(job.waits(inside=inside, late=late), [*series, job.late("t1", 5)])
    assert {rank: (chain.standing, path(chain)) for rank, chain in chains.items()} == {
        4: (Standing.VICTIM, [5]),
        5: (Standing.ROOT, []),
        6: (Standing.VICTIM, [5]),
        7: (Standing.VICTIM, [5]),
    }


def test_a_chain_ends_at_a_communicator_that_is_slow_as_a_whole() -> None:
    job = Job({**TENSOR, **DATA})
    inside = {("t1", rank): 0.3 for rank in range(4, 8)}
    late = {(f"d{rank - 4}", rank): 0.2 for rank in range(4, 8)}
    waits = job.waits(inside=inside, late=late)
    series = [job.late(f"d{rank - 4}", rank) for rank in range(4, 8)]
    chains = Chains(job).step(waits, series)
    assert {(chain.standing, *path(chain)) for chain in chains.values()} == {(Standing.HELD, job.code("t1"))}
    called = Chains(job).step(waits, series, slow=[job.code("t1")])
    assert {chain.standing for chain in called.values()} == {Standing.VICTIM}


def test_nobody_is_waited_for_in_a_slow_communicator() -> None:
    job = Job({"world": range(8), "node": range(4)})
    # Behind a slow link ranks leave one after the other: who is inside for less has done nothing.
    inside = {("world", rank): 0.1 for rank in range(8)} | {("world", 2): 0.3}
    waits = job.waits(inside=inside, late={("node", 2): 0.2})
    chains = Chains(job)
    chain = chains.step(waits, [job.late("node", 2)], slow=[job.code("world")])[2]
    assert (chain.standing, path(chain)) == (Standing.VICTIM, [job.code("world")])
    assert chains.step(waits, [job.late("node", 2)])[2].path != chain.path


@pytest.mark.parametrize("leaves", [False, True])
def test_who_waits_for_a_root_that_nobody_hears_of_is_not_its_successor(leaves: bool) -> None:
    job = pipeline()
    chains = Chains(job)
    late = {("s0", 1): 0.2, ("s1", 5): 0.2}
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.5}, late=late)
    assert chains.step(waits, [job.late("s0", 1), job.late("s1", 5)])[5].standing is Standing.VICTIM
    silent = [job.membership.member(*pair).global_rank == 1 for pair in zip(waits.comm, waits.rank, strict=True)]
    heard = Waits(*(getattr(waits, field.name)[~np.array(silent)] for field in fields(Waits)))
    if leaves:
        job.leave(1)
    for _ in range(3 * HOLD_TICKS):
        chain = chains.step(heard, [job.late("s1", 5)])[5]
        assert (chain.standing, path(chain)) == (Standing.VICTIM, [1])


def test_late_in_one_communicator_of_its_own_accord_is_late() -> None:
    job = Job({**STAGES, **PIPES, "world": range(8)})
    waits = job.waits({**NORMAL, ("p1", 5, 1): 0.5}, late={("s1", 5): 0.2, ("world", 5): 0.9})
    assert Chains(job).step(waits, [job.late("s1", 5), job.late("world", 5)])[5].standing is Standing.ROOT


def test_nobody_changes_sides_with_every_tick() -> None:
    job = pipeline()
    chains = Chains(job)
    late = [job.late("s0", 1), job.late("s1", 5)]

    def standing(excess: float, ticks: int = 8) -> Standing:
        waits = job.waits({**NORMAL, ("p1", 5, 1): 0.3 + excess}, late={("s0", 1): 0.2, ("s1", 5): 0.2})
        return [chains.step(waits, late)[5].standing for _ in range(ticks)][-1]

    assert standing(0.11) is Standing.VICTIM
    assert standing(0.06) is Standing.VICTIM
    assert standing(0.04) is Standing.ROOT
    assert standing(0.14) is Standing.ROOT
    assert standing(0.16) is Standing.VICTIM


def test_without_measured_waits_every_late_rank_is_a_root() -> None:
    job = Job(STAGES)
    chains = Chains(job).step(job.waits(), [job.late("s1", 5)])
    assert chains[5].standing is Standing.ROOT


def test_switched_off_it_says_nothing() -> None:
    job = pipeline()
    assert Chains(job, enabled=False).step(job.waits(NORMAL), [job.late("s1", 5)]) == {}


def test_recvs_in_one_communicator_of_all_stages_are_compared_by_where_they_come_from() -> None:
    job = Job({**STAGES, "world": range(8)})
    received = {("world", rank + 4, rank): 0.3 for rank in range(4)}
    waits = job.waits({**received, ("world", 5, 1): 0.5}, late={("s0", 1): 0.2, ("s1", 5): 0.2})
    chains = Chains(job).step(waits, [job.late("s0", 1), job.late("s1", 5)])
    assert (chains[5].standing, path(chains[5])) == (Standing.VICTIM, [1])


def test_a_stage_whose_recvs_are_longer_anyway_is_compared_with_itself() -> None:
    pipes = {f"p{rank}": (rank, rank + 4, rank + 8) for rank in range(4)}
    job = Job({**pipes, "world": range(12)})
    received = {(f"p{r}", r + 4 * s, r + 4 * (s - 1)): 0.1 + 0.2 * s for r in range(4) for s in (1, 2)}
    waits = job.waits(received, late={("world", 10): 0.2})
    assert Chains(job).step(waits, [job.late("world", 10)])[10].standing is Standing.ROOT
    slowed = job.waits({**received, ("p2", 10, 6): 0.7}, late={("world", 10): 0.2})
    assert path(Chains(job).step(slowed, [job.late("world", 10)])[10]) == [6]


def test_a_wait_that_nobody_else_has_excuses_only_beyond_its_own_normal() -> None:
    job = Job({**STAGES, "p1": (1, 5)})
    waits = job.waits({("p1", 5, 1): 0.5}, late={("s1", 5): 0.2})
    assert Chains(job).step(waits, [job.late("s1", 5)])[5].standing is Standing.ROOT
    chains = Chains(job)
    chains.learn(job.waits({("p1", 5, 1): 0.1}))
    assert path(chains.step(waits, [job.late("s1", 5)])[5]) == [1]


def test_what_it_waits_where_it_is_late_excuses_nobody() -> None:
    """Late in one operation of a communicator, it may wait for long in the next."""
    job = pipeline()
    waits = job.waits(NORMAL, inside={("s1", 5): 0.5}, late={("s1", 5): 0.2})
    assert Chains(job).step(waits, [job.late("s1", 5)])[5].standing is Standing.ROOT


def test_one_tick_in_which_waits_were_not_seen_makes_nobody_guilty() -> None:
    job = pipeline()
    chains = Chains(job)
    late = [job.late("s0", 1), job.late("s1", 5)]
    waiting = job.waits({**NORMAL, ("p1", 5, 1): 0.5}, late={("s0", 1): 0.2, ("s1", 5): 0.2})
    chains.step(waiting, late)
    blind = job.waits(NORMAL, late={("s0", 1): 0.2, ("s1", 5): 0.2})
    assert chains.step(blind, late)[5].standing is Standing.VICTIM
    assert [chains.step(blind, late)[5].standing for _ in range(3)][-1] is Standing.ROOT
