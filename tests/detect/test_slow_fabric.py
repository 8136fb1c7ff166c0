"""The slow fabric: what counts as a slower wire, and what does not."""

from collections.abc import Iterable
from dataclasses import fields, replace

import numpy as np
import pytest
from cluster.fabric import TICK_SECONDS, Noise, Ring, Tick, ar1, iid, log_normal

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.detect.slow_fabric import SlowFabric
from sentinel.measure.labels import CELL, Labels
from sentinel.measure.lateness import Lateness
from sentinel.measure.step_times import measure_step_times
from sentinel.model.incident import Finding, Verdict
from sentinel.model.snapshot import NetworkTable


class Watch:
    """The verdict on one ring."""

    def __init__(self, ring: Ring, baseline: Baseline | None = None) -> None:
        self.ring = ring
        self.fabric = SlowFabric(SlowFabricSettings(), 5, 1.0, baseline)

    def step(self, tick: Tick, states: dict[int, str] | None = None, apart: Iterable[int] = ()) -> list[Finding]:
        ring = self.ring
        times = measure_step_times(tick.traffic.network, ring.vocabulary, 8)
        look = self.fabric.look(tick.lateness, times, ring.membership, ring.vocabulary)
        found, self.held = self.fabric.step(
            tick.window, look, ring.membership, ring.vocabulary, states or ring.states, set(apart)
        )
        return found

    def run(self, count: int) -> list[list[Finding]]:
        return [self.step(tick) for tick in self.ring.ticks(count)]


def learnt(ring: Ring) -> Watch:
    watch = Watch(ring)
    assert not any(watch.run(80))
    return watch


@pytest.fixture(params=[True, False], ids=["network", "nvlink"])
def ring(request: pytest.FixtureRequest) -> Ring:
    return Ring(has_network=request.param)


def test_a_slower_fabric_is_named_as_long_as_it_lasts(ring: Ring) -> None:
    watch = learnt(ring)
    began, ring.fabric = ring.time, 1.5
    found = watch.run(20)
    assert any(found[:3])
    finding = found[-1][0]
    assert (finding.culprit.verdict, finding.culprit.comm) == (Verdict.SLOW_FABRIC, ring.comm)
    assert (finding.culprit.ranks, finding.culprit.node, finding.culprit.gpu) == ((), "", "")
    assert finding.started_at == pytest.approx(began, abs=TICK_SECONDS)
    assert finding.victims == 8
    # Two cells of 10 and 4 ms, 50 operations in 2 s each, half as long again.
    assert finding.cost_ratio == pytest.approx(0.5 * (0.010 + 0.004) * 50 / 2.0, rel=0.15)
    assert finding.evidence["witness"] == ("network steps" if ring.has_network else "ranks move together")
    assert finding.evidence["times_as_long"] == pytest.approx(1.5, rel=0.1)
    ring.fabric = 1.0
    assert not any(watch.run(5))
    ring.fabric = 1.5  # the second time as the first
    assert any(watch.run(3))


def test_network_steps_as_before_acquit_the_wire() -> None:
    watch = learnt(Ring())
    watch.ring.cells = tuple((op, size, 1.5 * seconds, count) for op, size, seconds, count in watch.ring.cells)
    assert not any(watch.run(40))


def test_a_slow_sender_is_no_slow_fabric() -> None:
    watch = learnt(Ring())
    watch.ring.wire[5] = 3.0
    assert not any(watch.run(40))


def test_network_steps_that_grew_by_little_do_not_explain_a_transfer_that_grew_by_much() -> None:
    watch = learnt(Ring())
    watch.ring.cells = tuple((op, size, 5.0 * seconds, count) for op, size, seconds, count in watch.ring.cells)
    watch.ring.message_ratio = 1.5
    assert not any(watch.run(40))


def test_another_mix_of_messages_is_no_slow_fabric(ring: Ring) -> None:
    ring.cells = (("AllReduce", "1048576", 0.01, 50), ("AllReduce", "4194304", 0.03, 5))
    watch = learnt(ring)
    ring.cells = (("AllReduce", "1048576", 0.01, 5), ("AllReduce", "4194304", 0.03, 50))
    ring.message_ratio = 2.0
    assert not any(watch.run(40))


def test_larger_messages_are_other_cells(ring: Ring) -> None:
    watch = learnt(ring)
    ring.cells = tuple((op, f"{4 * int(size)}", 4 * seconds, count) for op, size, seconds, count in ring.cells)
    ring.message_ratio = 4.0
    assert not any(watch.run(120))


def test_one_cell_of_many_is_no_slow_fabric() -> None:
    watch = learnt(Ring(cells=(("AllReduce", "1048576", 0.01, 50), ("AllGather", "65536", 0.01, 50))))
    watch.ring.cells = (("AllReduce", "1048576", 0.02, 50), ("AllGather", "65536", 0.01, 50))
    watch.ring.message_ratio = 2.0
    assert not any(watch.run(40))


def test_a_late_rank_is_no_slow_fabric_neither_as_it_comes_nor_as_it_goes(ring: Ring) -> None:
    watch = learnt(ring)
    ring.delay_seconds[3] = 0.01
    assert not any(watch.run(40))
    ring.delay_seconds[3] = 0.0
    assert not any(watch.run(40))


@pytest.mark.parametrize("nranks", [8, 64])
def test_arrivals_that_scatter_more_are_no_slow_fabric(ring: Ring, nranks: int) -> None:
    # As when everybody computes more slowly, or the machines are shared with others.
    ring = Ring(nranks=nranks, has_network=ring.has_network, gpus_per_node=8)
    watch = learnt(ring)
    for factor in (1.3, 2.0, 5.0):
        ring.arrival_seconds = factor * 0.0005
        assert not any(watch.run(40))


def test_where_a_single_rank_is_apart_nothing_new_is_said_and_nothing_ends(ring: Ring) -> None:
    watch = learnt(ring)
    ring.fabric = 1.5
    for tick in ring.ticks(5):
        assert not watch.step(tick, apart=[ring.code])
    key = watch.run(3)[-1][0].culprit.key
    for states, apart in (({ring.code: "abstain"}, []), (None, [ring.code])):
        for tick in ring.ticks(3):
            assert not watch.step(tick, states, apart)
            assert watch.held == {key}
    assert watch.run(1)[0][0].culprit.key == key
    watch.fabric.forget({ring.code})
    ring.cells = ()
    for tick in Ring(cells=(("Broadcast", "8", 0.001, 10),), vocabulary=ring.vocabulary).ticks(1):
        watch.step(tick)
    assert watch.held == set()


def test_what_costs_little_is_not_said() -> None:
    watch = learnt(Ring(cells=(("AllReduce", "1048576", 0.001, 10),), arrival_seconds=1e-5))
    watch.ring.fabric = 1.5
    assert not any(watch.run(40))


def test_a_stored_baseline_knows_from_the_first_tick(ring: Ring) -> None:
    def row(rank: int, op: str, size: str, seconds: float) -> BaselineRow:
        return BaselineRow(
            *("job", "", 8, 4, "0-7", rank, rank, f"node{rank // 2}", str(rank % 2), op, size, "RING", "SIMPLE"),
            ticks=100,
            operations=5000.0,
            duration_seconds=seconds + 0.0008 + 0.0001 * rank,
            lateness_seconds=0.0,
            lateness_spread_seconds=0.0001,
            wait_seconds=0.0,
            wait_spread_seconds=0.0001,
            autocorrelation=0.0,
            wait_autocorrelation=0.0,
        )

    rows = [row(rank, op, size, seconds) for rank in range(8) for op, size, seconds, _ in ring.cells]
    baseline = Baseline(0.0, 1.0, 2.0, tuple(rows))
    assert not any(Watch(Ring(has_network=ring.has_network), baseline).run(40))
    ring.fabric = 1.5
    assert any(Watch(ring, baseline).run(3))


@pytest.mark.parametrize(
    "noise",
    [iid(0.05), ar1(0.05, 0.9), log_normal(0.1), log_normal(1.2)],
    ids=["iid", "ar1", "skewed", "very-skewed"],
)
def test_noise_alone_is_no_slow_fabric(ring: Ring, noise: Noise) -> None:
    cells = (("AllReduce", "1048576", 0.01, 20), ("AllGather", "65536", 0.004, 20))
    ring = Ring(nranks=64, cells=cells, noise=noise, gpus_per_node=8, has_network=ring.has_network)
    watch = Watch(ring)
    assert not any(watch.run(3000))
    ring.fabric = 1000.0  # it would have been seen: with so skewed a noise only what is far out
    assert any(watch.run(6))


def test_every_slow_communicator_of_a_job_is_one_finding_under_one_name() -> None:
    first = Ring()
    second = Ring(comm="00000000000000bb", vocabulary=first.vocabulary, seed=2)
    fabric = SlowFabric(SlowFabricSettings(), 5, 1.0)

    def step(one: Tick, other: Tick) -> list[Finding]:
        def joined(a: object, b: object, names: Iterable[str]) -> dict[str, np.ndarray]:
            return {name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in names}

        values = {each.name for each in fields(Lateness)} - {"labels"}
        labels = Labels(**joined(one.lateness, other.lateness, ("rank", *CELL)))
        late = Lateness(labels=labels, **joined(one.lateness, other.lateness, values))
        columns = [each.name for each in fields(NetworkTable)]
        network = NetworkTable(**joined(one.traffic.network, other.traffic.network, columns))
        times = measure_step_times(network, first.vocabulary, 8)
        both = replace(
            first.membership, communicators={**first.membership.communicators, **second.membership.communicators}
        )
        look = fabric.look(late, times, both, first.vocabulary)
        return fabric.step(one.window, look, both, first.vocabulary, first.states | second.states)[0]

    def run(count: int) -> list[list[Finding]]:
        return [step(*pair) for pair in zip(first.ticks(count), second.ticks(count), strict=True)]

    assert not any(run(40))
    second.fabric = 1.3
    assert {finding.culprit.comm for finding in run(6)[-1]} == {second.comm}
    first.fabric = 1.6
    for findings in run(8):
        assert [finding.culprit.comm for finding in findings] == [second.comm]
    assert findings[0].evidence["comm"] == first.comm
    assert findings[0].evidence["also_slow"] == [second.comm]
