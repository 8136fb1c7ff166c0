"""From snapshots to measurements."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from advise.runs import TICK, Job, Kind, history, sends

from sentinel.advise.collector import Collector
from sentinel.advise.measurement import CONFIDENCE, Measurement
from sentinel.model.snapshot import DataQuality


def measured(jobs: Sequence[Job], ticks: int = 30) -> tuple[Measurement, ...]:
    collector = Collector()
    for snapshot, volume in history(jobs, ticks):
        collector.add(snapshot, volume)
    return collector.measurements()


def latency(row: Measurement) -> float:
    return math.exp(row.log_latency.mean)


def test_the_shortest_rank_tells_the_transfer_whoever_is_late() -> None:
    (row,) = measured([Job([Kind(1e-3)], late_seconds=(0, 0, 5e-4, 0), noise=0.001)])
    assert latency(row) == pytest.approx(1e-3, rel=0.01)
    assert math.exp(row.log_duration.mean) == pytest.approx(1.5e-3, rel=0.01)
    assert (row.operations, row.windows, row.is_transfer) == (600, 30, True)


def test_no_rank_is_below_the_transfer_so_scattered_arrivals_only_raise_it() -> None:
    (row,) = measured([Job([Kind(1e-3)], jitter_seconds=2e-4, noise=0.0)])
    assert 1e-3 < latency(row) < math.exp(row.log_duration.mean)
    assert row.scatter_ratio > 0.1


def test_the_interval_holds_the_transfer_as_often_as_it_says() -> None:
    inside = 0
    for seed in range(100):
        (row,) = measured([Job([Kind(1e-3, per_tick=2)], jitter_seconds=0.0, noise=0.05, seed=seed)], ticks=20)
        interval = row.log_latency.interval(CONFIDENCE)
        assert interval is not None
        inside += interval[0] < math.log(1e-3) < interval[1]
    assert inside >= 88  # of a binomial with 95 in the mean, 1 in 400 is below


def test_operations_that_first_show_are_counted_where_their_rank_was_there() -> None:
    (row,) = measured([Job([Kind(1e-3)])], ticks=1)
    assert (row.operations, row.windows) == (20, 1)
    assert row.log_latency.interval(CONFIDENCE) is None


def test_what_was_there_before_the_range_is_not_counted() -> None:
    collector = Collector()
    for snapshot, volume in list(history([Job([Kind(1e-3)])], 3))[2:]:
        collector.add(snapshot, volume)
    (row,) = collector.measurements()
    assert row.operations == 20


def test_a_counter_that_was_reset_costs_its_window() -> None:
    job, collector = Job([Kind(1e-3)]), Collector()
    for tick, (snapshot, volume) in enumerate(history([job], 4)):
        collector.add(snapshot, volume)
        if tick == 2:
            job.counters.clear()
    (row,) = collector.measurements()
    assert row.operations == 60


def test_partial_answers_are_passed_over_and_counted() -> None:
    collector = Collector()
    for tick, (snapshot, volume) in enumerate(history([Job([Kind(1e-3)])], 4)):
        quality = DataQuality(warnings=("a store did not answer",)) if tick == 2 else DataQuality()
        collector.add(replace(snapshot, quality=quality), volume)
    (row,) = collector.measurements()
    assert (row.operations, row.windows, collector.partial) == (80, 3, 1)


def test_groups_of_one_role_are_one_row_and_other_roles_are_not() -> None:
    jobs = [
        Job([Kind(1e-3)], comm="00000000000000aa", comm_name="dp", nodes=("n0", "n1")),
        Job([Kind(1e-3)], comm="00000000000000bb", comm_name="dp", nodes=("n2", "n3")),
        Job([Kind(1e-3)], comm="00000000000000cc", comm_name="tp", nodes=("n0",), nranks=2),
    ]
    dp, tp = measured(jobs)
    assert (dp.hardware.comm_name, dp.hardware.nodes, dp.operations) == ("dp", ("n0", "n1", "n2", "n3"), 1200)
    assert (tp.hardware.comm_name, tp.hardware.nranks, tp.hardware.nnodes, tp.operations) == ("tp", 2, 1, 600)


def test_a_cell_with_fewer_than_half_of_its_ranks_is_left_out() -> None:
    assert len(measured([Job([Kind(1e-3)], untimed=(0, 1))])) == 1
    assert measured([Job([Kind(1e-3)], untimed=(0, 1, 2))]) == ()


@pytest.mark.parametrize("message_bytes", [1 << 20, 1_500_000])
def test_the_mean_message_is_known_where_one_class_is_used(message_bytes: int) -> None:
    (row,) = measured([Job([Kind(1e-3, message_bytes=message_bytes)])])
    low, high = row.message_bytes
    assert (low, high) == pytest.approx((message_bytes, message_bytes))
    assert row.bus_bytes == pytest.approx((1.5 * message_bytes, 1.5 * message_bytes))  # 2 (n - 1) / n of four ranks
    assert row.size_bytes == 1 << 20


def test_the_bus_bandwidth_of_gathers_counts_all_ranks_messages() -> None:
    (row,) = measured([Job([Kind(1e-3, op="AllGather")])])
    assert row.bus_bytes == pytest.approx((3 << 20, 3 << 20))  # 4 MiB times 3/4


def test_two_settings_of_one_size_may_have_had_different_sizes() -> None:
    kinds = [Kind(1e-3, message_bytes=1_100_000), Kind(1e-3, message_bytes=2_000_000, algo="TREE")]
    for row in measured([Job(kinds)]):
        assert row.message_bytes == (1 << 20, (1 << 21) - 1)


def test_time_counts_what_sampling_left_out() -> None:
    (row,) = measured([Job([Kind(1e-3, per_tick=10)], launched_per_measured=16, jitter_seconds=0.0, noise=0.0)])
    assert row.time_ratio == pytest.approx(10 * 16 * 1e-3 / TICK)


def test_sends_and_receives_have_bandwidth_and_no_transfer() -> None:
    collector = Collector()
    for tick, (snapshot, volume) in enumerate(history([Job([])], 5)):
        code = snapshot.vocabulary.code
        comm, send, size = code("00000000000000aa"), code("Send"), code("1048576")
        rows = [(comm, 0, send, size, 10.0 * tick, 0.01 * tick, 12_000_000.0 * tick)] if tick else []
        collector.add(snapshot, sends(volume, rows))
    (row,) = collector.measurements()
    assert (row.op, row.algo, row.operations, row.is_transfer) == ("Send", "", 50, False)
    assert latency(row) == pytest.approx(1e-3)
    assert row.message_bytes == row.bus_bytes == pytest.approx((1_200_000, 1_200_000))


def test_instants_must_advance_and_belong_together() -> None:
    (first, second), collector = list(history([Job([Kind(1e-3)])], 1)), Collector()
    with pytest.raises(ValueError, match="volume of"):
        collector.add(first[0], second[1])
    collector.add(*second)
    with pytest.raises(ValueError, match="after"):
        collector.add(*first)


def test_nothing_gives_no_rows() -> None:
    assert Collector().measurements() == ()
    assert measured([Job([])]) == ()
