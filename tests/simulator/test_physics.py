"""What holds of collectives and pipelines whatever the job."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.conditions import Conditions
from simulator.faults import LateRank, Slowdown, SlowFabric, SlowLink, StarvedHost
from simulator.layout import Kind, Layout
from simulator.noise import Hiccups, NoiseState, Normal
from simulator.placement import Placement
from simulator.presets import four_communicators, fsdp, pipeline, two_level
from simulator.program import Block, Collective, Pass, Phase, Program
from simulator.reading import geometric_mean_seconds, launched, mean_seconds, operations, receive_seconds
from simulator.sampling import Sampling
from simulator.step import Moved, Step

from sentinel.measure.window import Differencer

CLOSING = Collective("world", "AllReduce", 8, 0.001)


def run(phases: tuple[Phase, ...], kinds: dict[str, Kind], late: dict[int, float], ranks: int) -> list[Any]:
    """One step without noise; `late` gives seconds by rank."""
    layout = Layout(ranks, kinds, Program((Block(phases),)), np.zeros(ranks, dtype=np.int64))
    conditions = Conditions.healthy(layout)
    for rank, seconds in late.items():
        conditions.before_step[rank] = seconds
    placement = Placement.in_order(layout.nodes, ranks)
    random = np.random.default_rng(1)
    step = Step(conditions, placement, NoiseState((), random, layout.nodes * 8), random)
    (segment,) = layout.program.segments({name: kind.is_world for name, kind in kinds.items()})
    outcomes, _ = step.run(segment, np.array([True]), {})
    return list(outcomes)


def world(ranks: int) -> dict[str, Kind]:
    return {"world": Kind("world", np.arange(ranks)[None])}


def test_nobody_leaves_before_the_last_has_arrived() -> None:
    late = {0: 0.003, 1: 0.001, 2: 0.0, 3: 0.010}
    (durations,) = run((CLOSING,), world(4), late, 4)
    transfer = durations[0, 3]
    assert 0.001 <= transfer < 0.0013
    assert durations[0] - transfer == pytest.approx([0.007, 0.009, 0.010, 0.0])


def test_a_broadcast_waits_for_its_root_only() -> None:
    broadcast = Collective("world", "Broadcast", 8, 0.001)
    durations, _ = run((broadcast, CLOSING), world(3), {1: 0.010}, 3)
    assert durations[0] == pytest.approx([durations[0, 0]] * 3)
    durations, _ = run((broadcast, CLOSING), world(3), {0: 0.010}, 3)
    assert durations[0] - durations[0, 0] == pytest.approx([0.0, 0.010, 0.010])


def test_the_root_of_a_reduce_waits_and_nobody_else() -> None:
    durations, _ = run((Collective("world", "Reduce", 8, 0.001), CLOSING), world(3), {2: 0.010}, 3)
    assert durations[0] - durations[0, 1] == pytest.approx([0.010, 0.0, 0.0])


def test_lateness_crosses_communicators() -> None:
    kinds = {"pair": Kind("pair", np.arange(4).reshape(2, 2)), **world(4)}
    pair, whole = run((Collective("pair", "AllReduce", 8, 0.001), CLOSING), kinds, {1: 0.010}, 4)
    assert pair[0, 0] - pair[0, 1] == pytest.approx(0.010)
    assert abs(pair[0, 2] - pair[0, 3]) < 1e-9
    assert whole[0, 2] - whole[0, 0] == pytest.approx(0.010, rel=0.05)  # the victim 0 arrives as late as 1
    assert whole[0, 0] == pytest.approx(whole[0, 1])


def through_pipeline(*, buffered: bool, late: dict[int, float]) -> tuple[Moved, ...]:
    kinds = {"pipeline": Kind("pipeline", np.arange(3)[None]), **world(3)}
    moved, _ = run((Pass("pipeline", 8, 0.001, 0.005, microbatches=1, buffered=buffered), CLOSING), kinds, late, 3)
    assert isinstance(moved, tuple)
    return moved


def test_a_recv_waits_for_its_sender() -> None:
    (healthy,) = through_pipeline(buffered=True, late={})
    (late,) = through_pipeline(buffered=True, late={0: 0.010})
    assert healthy.recvs[0] == pytest.approx([0.0, 0.006, 0.012])
    assert late.recvs[0] - healthy.recvs[0] == pytest.approx([0.0, 0.010, 0.010])


def test_a_send_waits_for_its_receiver_only_without_a_buffer() -> None:
    (buffered,) = through_pipeline(buffered=True, late={1: 0.050})
    (unbuffered,) = through_pipeline(buffered=False, late={1: 0.050})
    assert buffered.sends[0] == pytest.approx([0.001, 0.001, 0.0])
    assert unbuffered.sends[0, 0] == pytest.approx(0.050 - 0.005 + 0.001)


@pytest.mark.parametrize("ranks", [8, 64, 1000])
def test_the_late_rank_is_inside_for_the_shortest_time(ranks: int) -> None:
    cluster = Cluster(fsdp(ranks)).add(LateRank(rank=3, cost_ratio=0.2, begin=300.0))
    history = list(cluster.snapshots(20))
    pairs = ((history[1], history[9]), (history[10], history[19]))
    before, after = (mean_seconds(*pair, "AllGather", ranks) for pair in pairs)
    assert after.argmin() == 3
    assert after[3] == pytest.approx(before[3], rel=0.02)
    assert np.delete(after - before, 3).min() > 0.1 * before.mean()


def test_a_late_rank_makes_its_node_late_between_nodes() -> None:
    cluster = Cluster(two_level(32)).add(LateRank(rank=11, cost_ratio=0.2))
    history = list(cluster.snapshots(10))
    inside = mean_seconds(history[1], history[9], "AllGather", 8)
    assert inside.argmin() == 11
    between = mean_seconds(history[1], history[9], "AllReduce", 32)
    assert set(np.argsort(between)[:8].tolist()) == set(range(8, 16))
    assert between[8:16].max() < between[16:].min()


def test_victims_wait_for_as_long_as_the_late_rank_is_late() -> None:
    cluster = Cluster(fsdp(16, layers=1), noise=()).add(LateRank(rank=3, cost_ratio=0.1, begin=300.0))
    history = list(cluster.snapshots(20))
    seconds = [mean_seconds(history[first], history[last], "AllGather", 16) for first, last in ((1, 9), (10, 19))]
    # One of the two gathers of a step is the first of the step.
    grown = 2.0 * (seconds[1] - seconds[0])
    others = np.arange(16) != 3
    assert grown[others] == pytest.approx(0.1 * cluster.healthy_step_seconds, rel=0.05)
    assert grown[3] == pytest.approx(0.0, abs=0.01)


def test_the_next_stage_is_late_as_a_victim() -> None:
    cluster = Cluster(pipeline(stages=2, replicas=8)).add(LateRank(rank=1, cost_ratio=0.1, begin=300.0))
    history = list(cluster.snapshots(20))
    before, after = (mean_seconds(history[a], history[b], "AllReduce", 8) for a, b in ((1, 9), (10, 19)))
    grown = after - before
    for stage, late in ((slice(0, 8), 1), (slice(8, 16), 9)):
        assert grown[stage].argmin() == late % 8
    waited = receive_seconds(history[10], history[19]) - receive_seconds(history[1], history[9])
    assert np.nanargmax(waited) == 9


@pytest.mark.parametrize("preset", [fsdp, two_level, four_communicators])
def test_sampling_times_the_same_operations_on_all_ranks(preset: object) -> None:
    layout = preset(64, step_seconds=0.02)  # type: ignore[operator]
    cluster = Cluster(layout, tick_seconds=10.0)
    history = list(cluster.snapshots(4))
    for op in ("AllGather", "AllReduce"):
        for nranks in {kind.nranks for kind in layout.kinds.values()}:
            timed = operations(history[1], history[3], op, nranks)
            assert (timed == timed[0]).all()
            count = launched(history[1], history[3], op, nranks)[0]
            if count:
                share = 1.0 if count / 20.0 < 40.0 else 4 / 64
                assert timed[0] / count == pytest.approx(share, rel=0.1)


def test_few_operations_a_second_are_timed_whole() -> None:
    history = list(Cluster(fsdp(16)).snapshots(3))
    count = launched(history[0], history[2], "AllGather", 16)
    assert count.min() > 0
    assert (operations(history[0], history[2], "AllGather", 16) == count).all()


def test_a_stream_changes_to_sampling_and_back_at_different_rates() -> None:
    sampling, numbers = Sampling(), np.arange(640)
    counts = []
    for rate in (50.0, 61.0, 50.0, 39.0, 50.0):
        sampling.observe(("world", "AllReduce"), rate)
        counts.append(int(sampling.timed(("world", "AllReduce"), numbers).sum()))
    assert counts == [640, 40, 40, 640, 640]


def test_what_sampling_leaves_out_is_like_what_it_takes() -> None:
    def means(sampling: Sampling) -> np.ndarray:
        cluster = Cluster(fsdp(16, step_seconds=0.06), sampling=sampling, seed=5)
        cluster.add(LateRank(rank=3, cost_ratio=0.2))
        history = list(cluster.snapshots(8))
        return mean_seconds(history[1], history[7], "AllGather", 16)

    # Sixteen gathers a step and a period of 60: every gather of a step has its turn.
    assert means(Sampling(4, 60)) == pytest.approx(means(Sampling.everything()), rel=0.03)


@pytest.mark.parametrize("preset", [fsdp, two_level, four_communicators, pipeline])
@pytest.mark.parametrize(
    "fault",
    [
        LateRank(rank=3, cost_ratio=0.001),
        LateRank(rank=3, cost_ratio=0.2),
        SlowLink(rank=3, cost_ratio=0.2),
        StarvedHost(rank=12, cost_ratio=0.2),
        SlowFabric(cost_ratio=0.2),
    ],
    ids=lambda fault: f"{type(fault).__name__} {fault.cost_ratio}",
)
def test_a_step_is_computing_and_being_inside_operations_on_every_rank(preset: object, fault: Slowdown) -> None:
    layout = preset(step_seconds=1.0)  # type: ignore[operator]
    cluster = Cluster(layout, noise=(Normal(0.01),), warm_up_seconds=0.0, tick_seconds=600.0).add(fault)
    snapshot = list(cluster.snapshots(2))[-1]
    rank = {
        (comm, each): number
        for comm, each, number in zip(
            snapshot.communicators.comm.tolist(),
            snapshot.communicators.rank.tolist(),
            snapshot.communicators.global_rank.tolist(),
            strict=True,
        )
    }
    spent = np.zeros(layout.ranks)
    for table in (snapshot.cells, snapshot.peers):
        np.add.at(
            spent, [rank[each] for each in zip(table.comm.tolist(), table.rank.tolist(), strict=True)], table.seconds
        )
    spent *= cluster.step_seconds / 1200.0  # in one step
    for block in layout.program.blocks:
        for phase in block.phases:
            times = block.repeats * (1 if isinstance(phase, Collective) else phase.microbatches)
            spent += times * phase.compute_seconds
    if isinstance(fault, LateRank):
        spent[3] += cluster.lateness_seconds(fault)
    assert spent == pytest.approx(np.full(layout.ranks, cluster.step_seconds), rel=0.01)


def test_what_is_under_way_is_launched_and_not_measured() -> None:
    cluster = Cluster(fsdp(16), noise=(), warm_up_seconds=0.0, tick_seconds=1.0)
    seen = []
    for snapshot in cluster.snapshots(60):
        launched_now = snapshot.started.started.reshape(-1, 16).sum(axis=0)
        measured_now = snapshot.cells.operations.reshape(-1, 16).sum(axis=0)
        assert (launched_now - measured_now == (snapshot.in_flight.oldest_seconds > 0)).all()
        seen.append(snapshot.in_flight.oldest_seconds[0])
    assert 0.0 < max(seen) < 0.05
    assert np.mean(np.array(seen) > 0) == pytest.approx(0.3, abs=0.15)


def test_a_hundred_thousand_ranks() -> None:
    (snapshot,) = Cluster(fsdp(100_000, layers=1), tick_seconds=10.0).snapshots(1)
    assert len(snapshot.communicators.rank) == 100_000
    assert len(snapshot.cells.rank) == len(snapshot.started.rank) == 300_000
    assert snapshot.communicators.nnodes[0] == 12_500


def test_the_same_seed_gives_the_same_job() -> None:
    def last(seed: int) -> np.ndarray:
        *_, snapshot = Cluster(fsdp(16), noise=(Normal(), Hiccups()), seed=seed).snapshots(3)
        return snapshot.cells.seconds

    assert (last(1) == last(1)).all()
    assert (last(1) != last(2)).any()


def test_means_of_logarithms_and_of_seconds_belong_to_the_same_durations() -> None:
    cluster = Cluster(fsdp(16), noise=(Hiccups(seconds=0.5, once_in=50),))
    history = list(cluster.snapshots(5))
    arithmetic = mean_seconds(history[1], history[4], "AllGather", 16)
    geometric = geometric_mean_seconds(history[1], history[4], "AllGather", 16)
    assert (geometric < 0.9 * arithmetic).all()
    differencer = Differencer()
    windows = [window for snapshot in history if (window := differencer.step(snapshot)) is not None]
    assert all(len(window.rank) == 3 * 16 for window in windows)  # none was refused as contradictory


def test_counters_never_fall() -> None:
    cluster = Cluster(pipeline(stages=2, replicas=8), scrape_moments=3)
    history = list(cluster.snapshots(6))
    for a, b in pairwise(history[1:]):
        for table, names in (("cells", ("operations", "seconds")), ("started", ("started",)), ("peers", ("seconds",))):
            for name in names:
                assert (getattr(getattr(b, table), name) >= getattr(getattr(a, table), name)).all()


def test_machines_are_scraped_at_different_moments() -> None:
    cluster = Cluster(fsdp(24), scrape_moments=3)
    snapshot = list(cluster.snapshots(3))[-1]
    assert sorted(set((snapshot.time - snapshot.sampled_at).tolist())) == pytest.approx([0.0, 10.0, 20.0])
    started = snapshot.started.started.reshape(-1, 3, 8)
    assert (started[:, 0] < started[:, 2]).all()
