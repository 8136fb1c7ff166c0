"""Each fault does what it says, and costs what it says."""

from itertools import pairwise

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.faults import (
    Event,
    EverybodySlow,
    ExporterGone,
    HeavyStage,
    JobGone,
    LateAtEachCollective,
    LateRank,
    RankGone,
    Slowdown,
    SlowFabric,
    SlowGpu,
    SlowLink,
    Stall,
    StarvedHost,
)
from simulator.layout import Layout
from simulator.noise import Ar1, Hiccups, Imbalance, LogNormal, Noise, Normal
from simulator.presets import fsdp, pipeline, two_level
from simulator.reading import in_flight, launched, launched_ever, mean_seconds, step_seconds
from simulator.regimes import Restart

from sentinel.model.snapshot import Snapshot

BEGIN = 300.0


def history(*faults: Event, layout: Layout | None = None, ticks: int = 30) -> tuple[Cluster, list[Snapshot]]:
    cluster = Cluster(layout or fsdp(32)).add(*faults)
    return cluster, list(cluster.snapshots(ticks))


def before_and_after(snapshots: list[Snapshot]) -> tuple[tuple[Snapshot, Snapshot], tuple[Snapshot, Snapshot]]:
    return (snapshots[1], snapshots[9]), (snapshots[10], snapshots[-1])


@pytest.mark.parametrize(
    "fault",
    [
        LateRank(rank=3, cost_ratio=0.05, begin=BEGIN),
        LateRank(rank=3, cost_ratio=0.4, begin=BEGIN),
        LateAtEachCollective(rank=3, cost_ratio=0.05, begin=BEGIN),
        SlowGpu(rank=3, cost_ratio=0.01, begin=BEGIN),
        SlowLink(rank=3, cost_ratio=0.1, begin=BEGIN),
        SlowFabric(cost_ratio=0.2, begin=BEGIN),
    ],
    ids=lambda fault: f"{type(fault).__name__} {fault.cost_ratio}",
)
def test_a_fault_costs_its_share_of_the_job_s_time(fault: Slowdown) -> None:
    """By what the ranks themselves count: a rank's step is what it computes and the time it is inside collectives."""
    cluster, snapshots = history(fault, ticks=60)
    healthy, slow = before_and_after(snapshots)

    def inside(pair: tuple[Snapshot, Snapshot]) -> np.ndarray:
        counts = {"AllGather": 16, "ReduceScatter": 8, "AllReduce": 4}
        return sum(count * mean_seconds(*pair, op, 32) for op, count in counts.items())  # type: ignore[return-value]

    grown = np.delete(inside(slow) - inside(healthy), 3).mean()
    assert grown / cluster.healthy_step_seconds == pytest.approx(fault.cost_ratio, rel=0.1, abs=0.002)
    rates = [launched(*pair, "AllGather", 32)[0] / (pair[1].time - pair[0].time) for pair in (healthy, slow)]
    assert rates[0] / rates[1] - 1.0 == pytest.approx(fault.cost_ratio, rel=0.1, abs=0.002)


@pytest.mark.parametrize(
    "noise", [(Imbalance(0.05), Normal(0.01)), (Ar1(0.02, 0.9),), (LogNormal(0.01),), (Hiccups(),)]
)
def test_the_noise_of_the_others_hides_nothing_of_the_cost(noise: tuple[Noise, ...]) -> None:
    fault = LateAtEachCollective(rank=3, cost_ratio=0.1, begin=30_000.0)
    cluster = Cluster(fsdp(32, step_seconds=1.0), noise, tick_seconds=1000.0).add(fault)
    snapshots = list(cluster.snapshots(60))
    inside = [
        sum(
            count * mean_seconds(snapshots[a], snapshots[b], op, 32).mean()
            for op, count in {"AllGather": 16, "ReduceScatter": 8, "AllReduce": 4}.items()
        )
        for a, b in ((1, 29), (30, 59))
    ]
    # The mean over all ranks but for the one that waits less, by as much as it is late.
    late = 28 * cluster.lateness_seconds(fault)
    grown = (inside[1] - inside[0]) + late / 32
    assert grown / cluster.healthy_step_seconds == pytest.approx(0.1, rel=0.1)


def test_a_rank_that_is_late_at_each_collective_is_the_shortest_in_all_of_them() -> None:
    _, snapshots = history(LateAtEachCollective(rank=5, cost_ratio=0.05, begin=BEGIN))
    for op in ("AllGather", "ReduceScatter", "AllReduce"):
        assert mean_seconds(*before_and_after(snapshots)[1], op, 32).argmin() == 5


def test_a_slow_gpu_is_late_where_it_has_computed() -> None:
    _, snapshots = history(SlowGpu(rank=5, cost_ratio=0.05, begin=BEGIN))
    assert mean_seconds(*before_and_after(snapshots)[1], "ReduceScatter", 32).argmin() == 5


def test_a_slow_link_shows_in_network_states_and_not_in_durations() -> None:
    _, snapshots = history(SlowLink(rank=5, cost_ratio=0.1, begin=BEGIN))
    healthy, slow = before_and_after(snapshots)

    def growth(direction: str, state: str) -> np.ndarray:
        return step_seconds(*slow, direction, state, 32) / step_seconds(*healthy, direction, state, 32)

    assert growth("send", "wire").argmax() == 5
    assert np.delete(growth("send", "wire"), 5).max() < 1.01
    assert growth("recv", "wire").argmax() == 8 + 6  # the next node's entry of the same ring
    assert growth("recv", "gpu_wait").argmax() == 6  # by whom that ring has entered this node
    durations = mean_seconds(*slow, "AllGather", 32)
    assert durations.min() > 1.05 * mean_seconds(*healthy, "AllGather", 32).max()
    assert np.ptp(durations) < 0.03 * durations.mean()


def test_a_slow_machine_slows_what_crosses_it_and_nothing_inside_a_node() -> None:
    _, snapshots = history(SlowLink(node=1, cost_ratio=0.1, begin=BEGIN), layout=two_level(32))
    healthy, slow = before_and_after(snapshots)
    assert mean_seconds(*slow, "AllReduce", 32).min() > 1.2 * mean_seconds(*healthy, "AllReduce", 32).max()
    assert mean_seconds(*slow, "ReduceScatter", 8) == pytest.approx(
        mean_seconds(*healthy, "ReduceScatter", 8), rel=0.05
    )
    wire = step_seconds(*slow, "send", "wire", 32)
    assert set(np.argsort(wire)[-8:].tolist()) == set(range(8, 16))


def test_a_starved_host_is_slow_on_its_own_side() -> None:
    _, snapshots = history(StarvedHost(rank=5, cost_ratio=0.1, begin=BEGIN))
    healthy, slow = before_and_after(snapshots)
    for state in ("flush", "gpu_wait"):
        growth = step_seconds(*slow, "recv", state, 32) / step_seconds(*healthy, "recv", state, 32)
        assert growth.argmax() == 5
        assert growth[5] > 1.5
    assert step_seconds(*slow, "send", "wire", 32)[5] == pytest.approx(
        step_seconds(*healthy, "send", "wire", 32)[5], rel=0.02
    )


def test_a_slow_fabric_leaves_nodes_alone() -> None:
    _, snapshots = history(SlowFabric(cost_ratio=0.1, begin=BEGIN), layout=two_level(32))
    healthy, slow = before_and_after(snapshots)
    assert mean_seconds(*slow, "AllReduce", 32).min() > 1.2 * mean_seconds(*healthy, "AllReduce", 32).max()
    assert mean_seconds(*slow, "AllGather", 8) == pytest.approx(mean_seconds(*healthy, "AllGather", 8), rel=0.05)


def test_a_fault_that_cannot_cost_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="costs nothing"):
        history(SlowFabric(cost_ratio=0.1), layout=fsdp(8))


def test_a_heavy_stage_has_its_ranks_behind_together() -> None:
    fault = HeavyStage(stage=1, cost_ratio=0.05)
    cluster, snapshots = history(fault, layout=pipeline(stages=4, replicas=8))
    healthy = history(layout=pipeline(stages=4, replicas=8))[1]
    grown = mean_seconds(snapshots[1], snapshots[-1], "AllReduce", 8) - mean_seconds(
        healthy[1], healthy[-1], "AllReduce", 8
    )
    assert np.abs(grown).max() < 0.02 * cluster.healthy_step_seconds  # inside a stage all are alike
    assert cluster.step_seconds / cluster.healthy_step_seconds == pytest.approx(1.05, abs=0.005)


def test_everybody_slow_makes_nobody_late() -> None:
    cluster, snapshots = history(EverybodySlow(cost_ratio=0.3, begin=BEGIN))
    healthy, slow = before_and_after(snapshots)
    assert cluster.step_seconds / cluster.healthy_step_seconds == pytest.approx(1.3, rel=0.01)
    assert mean_seconds(*slow, "AllGather", 32) == pytest.approx(mean_seconds(*healthy, "AllGather", 32), rel=0.03)


def test_a_drift_grows_from_nothing() -> None:
    fault = LateAtEachCollective(rank=3, cost_ratio=0.1, begin=0.0, ramp_seconds=7200.0)
    cluster = Cluster(fsdp(16), tick_seconds=60.0).add(fault)
    snapshots = list(cluster.snapshots(120))
    lateness = []
    for first in (1, 40, 80, 110):
        seconds = mean_seconds(snapshots[first], snapshots[first + 9], "AllGather", 16)
        lateness.append(float(np.median(seconds) - seconds[3]))
    assert lateness == sorted(lateness)
    assert lateness[0] < 0.2 * lateness[-1]
    assert lateness[1] == pytest.approx(0.4 * lateness[-1], rel=0.35)
    assert cluster.step_seconds / cluster.healthy_step_seconds == pytest.approx(1.1, abs=0.01)


def test_those_who_wait_for_a_stalled_rank_are_in_flight_and_one_ahead() -> None:
    _, snapshots = history(Stall(rank=3, begin=300.0, end=600.0), layout=fsdp(16))
    for snapshot in snapshots[10:19]:
        assert in_flight(snapshot) == set(range(16)) - {3}
        assert snapshot.in_flight.oldest_seconds.max() == pytest.approx(snapshot.time - snapshots[9].time)
        assert (snapshot.started.started == snapshots[10].started.started).all()
    ahead = snapshots[15].started.started - snapshots[15].started.started.reshape(-1, 16)[:, 3].repeat(16)
    assert ahead.reshape(-1, 16).sum(axis=0).tolist() == [1.0] * 3 + [0.0] + [1.0] * 12
    assert in_flight(snapshots[20], older_than=1.0) == set()
    assert np.ptp(snapshots[20].started.started.reshape(-1, 16), axis=1).max() == 0.0
    # What was in flight ends as one operation that took as long as the stall.
    spent = (snapshots[20].cells.seconds - snapshots[18].cells.seconds).reshape(-1, 16).sum(axis=0)
    assert (np.delete(spent, 3) - spent[3]).min() > 290.0


def test_a_rank_that_is_stuck_in_a_pipeline_stalls_those_behind_it() -> None:
    _, snapshots = history(Stall(rank=9, begin=300.0, end=600.0), layout=pipeline(stages=4, replicas=8))
    stalled = snapshots[12]
    assert in_flight(stalled) == set(range(32)) - {9}
    steps = launched_ever(stalled, "AllReduce", 32)[9]
    received, sent = launched_ever(stalled, "Recv", 4), launched_ever(stalled, "Send", 4)
    assert received[9] == sent[9] == 8 * steps  # four microbatches there and back
    assert received[17] == 8 * steps + 1  # the stage behind it waits in its first Recv
    assert received[25] == 4 * steps + 1
    assert sent[1] == 4 * (steps + 1)  # the stage before it has sent everything
    assert sent[0] == 4 * (steps + 1)
    assert sent[8] == 8 * (steps + 1)  # other replicas go on until they miss somebody
    for a, b in pairwise(snapshots):
        if len(a.started.started) == len(b.started.started):
            assert (b.started.started >= a.started.started).all()


def ranks_of(snapshot: Snapshot) -> set[int]:
    return set(snapshot.communicators.global_rank.tolist())


def test_a_dead_rank_s_series_vanish_and_its_peers_wait() -> None:
    _, snapshots = history(RankGone(rank=3, begin=300.0), layout=fsdp(16))
    assert ranks_of(snapshots[12]) == set(range(16)) - {3}
    assert 3 not in snapshots[12].cells.rank
    assert in_flight(snapshots[12]) == set(range(16)) - {3}
    assert len(snapshots[12].exporters.instance) == 2


def test_an_exporter_that_is_gone_takes_its_node_s_series_along() -> None:
    _, snapshots = history(ExporterGone(node=1, begin=300.0, end=600.0), layout=fsdp(16))
    assert ranks_of(snapshots[12]) == set(range(8))
    assert len(snapshots[12].exporters.instance) == 1
    assert in_flight(snapshots[12], older_than=1.0) == set()
    assert launched(snapshots[8], snapshots[20], "AllGather", 16).min() > 100  # the job went on
    assert ranks_of(snapshots[20]) == set(range(16))


def test_a_job_that_is_gone_leaves_its_exporters() -> None:
    _, snapshots = history(JobGone(begin=300.0), layout=fsdp(16))
    assert ranks_of(snapshots[8]) == set(range(16))
    assert ranks_of(snapshots[12]) == set()
    assert len(snapshots[12].exporters.instance) == 2


@pytest.mark.parametrize("hardware", [True, False])
def test_a_fault_stays_with_the_gpu_or_with_the_rank(hardware: bool) -> None:
    fault = LateRank(rank=3, cost_ratio=0.2, follows_hardware=hardware)
    cluster = Cluster(fsdp(24)).add(fault, Restart(begin=300.0, down_seconds=30.0, machines=(2, 0, 1)))
    snapshots = list(cluster.snapshots(30))
    assert mean_seconds(snapshots[1], snapshots[8], "AllGather", 24).argmin() == 3
    assert mean_seconds(snapshots[13], snapshots[29], "AllGather", 24).argmin() == (8 + 3 if hardware else 3)
