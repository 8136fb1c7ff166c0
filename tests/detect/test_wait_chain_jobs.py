"""Recorded, production and simulated jobs: the root is named, its victims are not."""

import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from cluster.peer_recording import PeerRecordedJob
from cluster.production import TRACES as PRODUCTION
from cluster.production import ProductionJob
from cluster.recording import TRACES, Bursts, Segment
from simulator.cluster import Cluster
from simulator.faults import HeavyStage, LateRank, Slowdown, SlowGpu
from simulator.layout import Kind, Layout
from simulator.noise import Normal, StudentT
from simulator.presets import pipeline
from simulator.program import Block, Collective, Program

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.config.detection_imbalance import ImbalanceSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Finding, Verdict
from sentinel.model.snapshot import Snapshot

RECORDED = DetectionSettings.model_validate({"baseline": {"warm_up": "4s"}})
# One operation a step, and a tick a step.
SLOW_STEPS = DetectionSettings.model_validate(
    {"baseline": {"warm_up": "0s", "warm_up_operations": 0, "min_operations": 1}}
)
LEARN_SECONDS, FAULT_SECONDS = 24.0, 1200.0


def findings(detector: Detector, snapshots: Iterable[Snapshot]) -> list[Finding]:
    return [finding for snapshot in snapshots for finding in detector.step(snapshot).findings]


def named(found: Iterable[Finding]) -> set[tuple[int, ...]]:
    return {finding.culprit.ranks for finding in found}


@pytest.mark.parametrize("sampled", [None, Bursts()], ids=["whole", "sampled"])
@pytest.mark.parametrize(
    ("trace", "ops_per_step", "learn", "watch", "culprits", "victims"),
    [
        pytest.param("pipe_late1", 3, (8, 80), (81, 158), {(1,)}, [5], id="pipe_late1"),
        pytest.param("pipe_healthy", 3, (8, 80), (80, 158), set(), [], id="pipe_healthy"),
        pytest.param("p2p_late6", 6, (8, 50), (51, 99), {(6,)}, [], id="p2p_late6"),
        pytest.param("late1ms", 4, (10, 100), (101, 199), {(3,)}, [], id="late1ms"),
    ],
)
def test_recorded_job(
    trace: str,
    ops_per_step: int,
    learn: tuple[int, int],
    watch: tuple[int, int],
    culprits: set[tuple[int, ...]],
    victims: list[int],
    sampled: Bursts | None,
) -> None:
    job = PeerRecordedJob(TRACES / trace, ops_per_step, sampled=sampled)
    segments = [Segment(*learn, LEARN_SECONDS), Segment(*watch, 20.0), Segment(*learn, 12.0)]
    snapshots = list(job.snapshots(segments))
    watched = list(itertools.dropwhile(lambda each: each.time < LEARN_SECONDS, snapshots))
    builder = BaselineBuilder(RECORDED.baseline)
    for snapshot in snapshots[: len(snapshots) - len(watched)]:
        builder.add(snapshot)
    # The stored baseline knows no Recvs: then those of the stage's other ranks say what is normal.
    stored = findings(Detector(RECORDED, builder.build()), watched)
    learnt = findings(Detector(RECORDED), snapshots)
    for found in (stored, learnt):
        assert named(found) == culprits
        for finding in found:
            assert finding.evidence.get("late_because_of_it", {}).get("first_ranks", []) == victims


@pytest.mark.parametrize("steps_per_tick", [1, 2])
def test_production_job_with_a_slow_worker(steps_per_tick: int) -> None:
    found = findings(Detector(SLOW_STEPS), ProductionJob(PRODUCTION / "trace-AR.parquet").snapshots(steps_per_tick))
    assert named(found) == {(0,)}
    victims = found[-1].evidence["late_because_of_it"]
    assert victims["first_ranks"] == [16, 32, 48]
    assert victims["least_share_ratio"] > 0.9
    # Its own stage waits little for it; the next ones wait half of the job's time for its pipeline partners.
    assert victims["cost_ratio_in_own_communicator"] < 0.06
    assert found[-1].cost_ratio > 0.35


@pytest.mark.parametrize("steps_per_tick", [1, 2])
def test_production_job_with_a_heavy_stage(steps_per_tick: int) -> None:
    job = ProductionJob(PRODUCTION / "trace-ST.parquet")
    assert findings(Detector(SLOW_STEPS), job.snapshots(steps_per_tick)) == []
    settings = SLOW_STEPS.model_copy(update={"imbalance": ImbalanceSettings(enabled=True)})
    found = findings(Detector(settings), job.snapshots(steps_per_tick))
    assert {(each.culprit.verdict, each.culprit.ranks) for each in found} == {(Verdict.IMBALANCE, ())}
    assert len({each.culprit.key for each in found}) == 1
    # It computes 0.13 s more in each of four microbatches, in a step of 2.2 s.
    assert found[-1].cost_ratio == pytest.approx(0.25, abs=0.02)
    assert found[-1].evidence["stages"][0]["ranks"] == "6,7"


STAGES = {"first": 2, "second": 10, "third": 18, "last": 26}


def simulated(
    *faults: Slowdown, layout: Layout | None = None, seed: int = 1, ticks: int = 80, **settings: object
) -> list[Finding]:
    noise = (StudentT(0.03),) if seed % 2 else (Normal(0.05),)
    cluster = Cluster(layout or pipeline(4, 8), noise=noise, seed=seed).add(*faults)
    return findings(Detector(DetectionSettings.model_validate(settings)), cluster.snapshots(ticks))


def victims_of(found: list[Finding], rank: int) -> set[int]:
    """Who was late because of it, at any time."""
    evidence = [finding.evidence for finding in found if finding.culprit.ranks == (rank,)]
    return {victim for each in evidence for victim in each.get("late_because_of_it", {}).get("first_ranks", [])}


@pytest.mark.parametrize("fault", [SlowGpu, LateRank])
@pytest.mark.parametrize("rank", STAGES.values(), ids=STAGES.keys())
@pytest.mark.parametrize(("cost_ratio", "late_ranks"), [(0.03, 1), (0.1, 4)])
def test_one_slow_rank_of_a_pipeline(
    fault: type[SlowGpu | LateRank], rank: int, cost_ratio: float, late_ranks: int
) -> None:
    found = simulated(fault(rank=rank, cost_ratio=cost_ratio, begin=FAULT_SECONDS), seed=rank)
    assert named(found) == {(rank,)}
    assert len(victims_of(found, rank)) >= late_ranks - 1


def test_two_slow_ranks_in_different_replicas_each_have_their_victims() -> None:
    faults = (
        SlowGpu(rank=2, cost_ratio=0.1, begin=FAULT_SECONDS),
        SlowGpu(rank=29, cost_ratio=0.08, begin=FAULT_SECONDS),
    )
    found = simulated(*faults)
    assert named(found) == {(2,), (29,)}
    assert 18 in victims_of(found, 2)
    assert {13, 21} <= victims_of(found, 29)


def test_a_stage_that_is_slow_as_a_whole_is_no_rank_s_fault() -> None:
    found = simulated(HeavyStage(stage=1, cost_ratio=0.2, begin=FAULT_SECONDS), imbalance={"enabled": True})
    # Nor is it an imbalance: it was not there from the start.
    assert found == []


def test_a_stage_that_is_heavy_from_the_start_is_an_imbalance() -> None:
    found = simulated(HeavyStage(stage=1, cost_ratio=0.3), imbalance={"enabled": True}, ticks=20)
    assert {each.culprit.verdict for each in found} == {Verdict.IMBALANCE}
    assert found[0].evidence["stages"][0]["ranks"] == "8-15"
    assert simulated(HeavyStage(stage=1, cost_ratio=0.3), ticks=20) == []


def test_a_balanced_pipeline_is_no_imbalance() -> None:
    assert simulated(imbalance={"enabled": True, "min_skew_ratio": 0.05}, ticks=40) == []


def tensor_and_data_parallel(ranks: int = 64) -> Layout:
    """Eight ranks of a node share each layer; one of each node reduces gradients together."""
    everybody = np.arange(ranks)
    kinds = {
        "tensor": Kind("tensor", everybody.reshape(-1, 8)),
        "data": Kind("data", everybody.reshape(-1, 8).T.copy()),
        "world": Kind("world", everybody.reshape(1, -1)),
    }
    phases = (
        Collective("tensor", "AllReduce", 1 << 24, 0.05, 0.5),
        Collective("tensor", "AllGather", 1 << 22, 0.02, 0.5),
        Collective("data", "ReduceScatter", 1 << 26, 0.5, 0.2),
        Collective("world", "AllReduce", 8, 0.0005, 0.001),
    )
    return Layout(ranks, kinds, Program((Block(phases),)), np.zeros(ranks, dtype=np.int64))


@pytest.mark.parametrize("fault", [SlowGpu, LateRank])
def test_the_chain_crosses_communicators(fault: type[SlowGpu | LateRank]) -> None:
    """Groups without names, all of eight ranks: the whole tensor-parallel group is late in its data-parallel ones."""
    found = simulated(fault(rank=19, cost_ratio=0.1, begin=FAULT_SECONDS), layout=tensor_and_data_parallel(), seed=2)
    assert named(found) == {(19,)}
    assert victims_of(found, 19) >= {16, 17, 18, 20, 21, 22, 23}


def test_without_chains_the_victims_are_accused_as_well() -> None:
    fault = SlowGpu(rank=10, cost_ratio=0.1, begin=FAULT_SECONDS)
    found = simulated(fault, wait_chain={"enabled": False})
    assert named(found) > {(10,)}
