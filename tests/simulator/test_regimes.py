"""What is no fault: each regime does what it says."""

from itertools import pairwise

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.layout import Kind
from simulator.presets import fsdp, pipeline
from simulator.program import Block, Collective
from simulator.reading import in_flight, launched, mean_seconds
from simulator.regimes import (
    Checkpoint,
    CounterReset,
    Evaluation,
    NewCommunicator,
    PartialAnswer,
    Restart,
    ScrapesLost,
    SizeMix,
)

from sentinel.model.snapshot import Snapshot


def sizes(snapshot: Snapshot) -> set[str]:
    return set(snapshot.vocabulary.texts(snapshot.cells.size))


def comms(snapshot: Snapshot) -> set[int]:
    return set(snapshot.communicators.comm.tolist())


def test_the_first_operations_of_a_communicator_are_slow() -> None:
    cluster = Cluster(fsdp(16), warm_up_seconds=2.0, noise=())
    snapshots = list(cluster.snapshots(6))
    first = (snapshots[0].cells.seconds / snapshots[0].cells.operations)[:16]
    later = mean_seconds(snapshots[2], snapshots[5], "AllGather", 16)
    assert first.sum() > 1.2 * later.sum()
    assert (first - later) * snapshots[0].cells.operations[:16] == pytest.approx(4.0, rel=0.1)


def test_nothing_is_launched_nor_in_flight_during_a_checkpoint() -> None:
    cluster = Cluster(fsdp(16)).add(Checkpoint(begin=100.0, end=250.0))
    snapshots = list(cluster.snapshots(12))
    assert (snapshots[7].started.started == snapshots[3].started.started).all()
    assert np.ptp(snapshots[5].started.started.reshape(-1, 16), axis=1).max() == 0
    assert in_flight(snapshots[5]) == set()
    assert launched(snapshots[8], snapshots[11], "AllGather", 16).min() > 0


def test_evaluation_has_another_mix_and_is_slower() -> None:
    cluster = Cluster(fsdp(16)).add(Evaluation(begin=300.0, end=600.0))
    snapshots = list(cluster.snapshots(30))
    assert str(1 << 25) not in sizes(snapshots[9])
    assert str(1 << 25) in sizes(snapshots[12])
    assert launched(snapshots[10], snapshots[19], "ReduceScatter", 16).max() == 0
    assert launched(snapshots[20], snapshots[29], "ReduceScatter", 16).min() > 0


def test_a_restart_has_new_communicators_and_counts_from_zero() -> None:
    cluster = Cluster(fsdp(16)).add(Restart(begin=300.0, down_seconds=90.0, machines=(1, 0)))
    snapshots = list(cluster.snapshots(20))
    assert len(snapshots[11].communicators.rank) == len(snapshots[11].cells.rank) == 0
    assert not comms(snapshots[8]) & comms(snapshots[15])
    assert snapshots[14].started.started.max() < snapshots[8].started.started.max()
    uuids = [snapshot.vocabulary.texts(snapshot.communicators.gpu_uuid) for snapshot in (snapshots[8], snapshots[15])]
    assert uuids[1] == uuids[0][8:] + uuids[0][:8]
    nodes = snapshots[15].vocabulary.texts(snapshots[15].communicators.node)
    assert nodes == ["node00001"] * 8 + ["node00000"] * 8


@pytest.mark.parametrize("ranks", [8, 32])
def test_a_job_may_come_back_in_another_size(ranks: int) -> None:
    cluster = Cluster(fsdp(16), machines=4).add(Restart(begin=300.0, layout=fsdp(ranks)))
    snapshots = list(cluster.snapshots(20))
    assert set(snapshots[8].communicators.nranks.tolist()) == {16}
    assert set(snapshots[19].communicators.nranks.tolist()) == {ranks}
    assert len(snapshots[19].communicators.rank) == ranks


def test_a_job_gets_no_machines_that_are_not_there() -> None:
    cluster = Cluster(fsdp(16)).add(Restart(begin=30.0, layout=fsdp(32)))
    with pytest.raises(ValueError, match="4 of 2 machines"):
        list(cluster.snapshots(10))


def test_a_new_communicator_appears_beside_the_others() -> None:
    kind = Kind("pairs", np.arange(16).reshape(8, 2), "extra")
    block = Block(
        (Collective("pairs", "Broadcast", 1 << 20, 0.001, 0.001), Collective("world", "AllReduce", 8, 0.0005, 0.001))
    )
    cluster = Cluster(fsdp(16)).add(NewCommunicator(kind=kind, block=block, begin=300.0, end=450.0))
    snapshots = list(cluster.snapshots(20))
    assert len(comms(snapshots[8])) == 1
    assert len(comms(snapshots[14])) == 9
    assert launched(snapshots[10], snapshots[14], "Broadcast", 2).min() > 0
    assert len(comms(snapshots[19])) == len(set(snapshots[19].cells.comm.tolist())) == 1  # and it was closed
    common = min(len(snapshots[8].cells.rank), len(snapshots[14].cells.rank))
    assert (snapshots[14].cells.operations[:common] > snapshots[8].cells.operations[:common]).all()


def test_other_message_sizes_are_other_cells() -> None:
    cluster = Cluster(fsdp(16)).add(SizeMix(begin=300.0, end=600.0))
    snapshots = list(cluster.snapshots(30))
    assert sizes(snapshots[9]) == {"8", str(1 << 26)}
    assert sizes(snapshots[12]) == {"8", "32", str(1 << 26), str(1 << 28)}
    usual = snapshots[12].vocabulary.code(str(1 << 26))
    counts = [each.cells.operations[each.cells.size == usual].sum() for each in (snapshots[11], snapshots[18])]
    assert counts[0] == counts[1]
    assert launched(snapshots[20], snapshots[29], "AllGather", 16).min() > 0


def test_one_rank_s_counters_start_anew() -> None:
    cluster = Cluster(pipeline(stages=2, replicas=8)).add(CounterReset(rank=3, begin=300.0))
    snapshots = list(cluster.snapshots(12))
    # The reset comes before the scrape of the same moment.
    fell = snapshots[9].started.started[: len(snapshots[8].started.started)]
    keep = snapshots[9].communicators.global_rank == 3
    assert not (snapshots[9].started.rank[snapshots[9].started.started == 0]).any()
    assert len(fell) < len(snapshots[8].started.started) or (fell < snapshots[8].started.started[: len(fell)]).any()
    assert keep.sum() == 3
    late, early = snapshots[11], snapshots[8]
    difference = launched(early, late, "AllReduce", 8)
    assert difference[3] < 0
    assert np.delete(difference, 3).min() > 0


def test_a_lost_scrape_leaves_a_node_with_what_it_said_before() -> None:
    cluster = Cluster(fsdp(64)).add(ScrapesLost(ratio=0.3, begin=300.0))
    snapshots = list(cluster.snapshots(60))
    assert set(snapshots[9 - 1].sampled_at.tolist()) == {snapshots[8].time}
    ages = np.concatenate([snapshot.time - snapshot.sampled_at for snapshot in snapshots[9:]])
    assert set(ages.tolist()) == {0.0, 30.0, 60.0}  # and after that it is gone
    assert np.mean(ages > 0) == pytest.approx(0.28, abs=0.06)
    for before, after in pairwise(snapshots[9:]):
        if len(before.sampled_at) == len(after.sampled_at) == 64:
            same = np.tile(after.sampled_at == before.sampled_at, 3)
            assert (after.cells.operations[same] == before.cells.operations[same]).all()
            assert (after.cells.operations[~same] > before.cells.operations[~same]).all()


def test_a_partial_answer_says_so() -> None:
    cluster = Cluster(fsdp(64)).add(PartialAnswer(begin=100.0, end=200.0, missing_ratio=0.5))
    snapshots = list(cluster.snapshots(10))
    assert [snapshot.quality.partial for snapshot in snapshots] == [False] * 3 + [True] * 3 + [False] * 4
    assert len(snapshots[8].communicators.rank) == 64
    assert min(len(snapshot.communicators.rank) for snapshot in snapshots[3:6]) < 64
