"""The formulas, against what they are known to give."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sentinel.advise.batch_means import Estimate, batch_means, difference_interval
from sentinel.advise.bus_bandwidth import bus_bytes
from sentinel.advise.message_bytes import class_bounds, mean_message_bytes
from sentinel.advise.nccl_setting import environment
from sentinel.advise.waiting import waiting_per_scatter


def test_bus_bytes_are_those_of_nccl_tests() -> None:
    # all_reduce_perf, all_gather_perf… of 8 ranks: algbw times the factor, algbw by the whole operation's bytes.
    assert bus_bytes("AllReduce", 1000, 8) == pytest.approx(1000 * 2 * 7 / 8)
    for op in ("AllGather", "ReduceScatter", "AlltoAll"):
        assert bus_bytes(op, 1000, 8) == pytest.approx(8000 * 7 / 8)
    for op in ("Broadcast", "Reduce", "Send", "Recv"):
        assert bus_bytes(op, 1000, 8) == 1000
    assert bus_bytes("Barrier", 1000, 8) is None
    assert bus_bytes("AllReduce", 1000, 1) is None


def test_batch_means_of_independent_values_are_students_interval() -> None:
    values = np.array([1.0, 2.0, 4.0, 5.0])
    found = batch_means(np.arange(4.0), np.ones(4), values)
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert found.interval(0.95) == pytest.approx((low, high))


def test_autocorrelation_widens_the_interval() -> None:
    random = np.random.default_rng(3)
    naive, batched = [], []
    for _ in range(50):
        noise = random.normal(size=400)
        series = np.zeros(400)
        for place in range(1, 400):
            series[place] = 0.9 * series[place - 1] + noise[place]
        naive.append(stats.sem(series))
        batched.append(batch_means(np.arange(400.0), np.ones(400), series).error)
    true = math.sqrt((1 + 0.9) / (1 - 0.9)) / math.sqrt(1 - 0.9**2) / math.sqrt(400)
    assert np.mean(naive) < 0.5 * true
    assert np.mean(batched) == pytest.approx(true, rel=0.25)


def test_rows_of_one_instant_are_one_window() -> None:
    times = np.array([0.0, 0.0, 1.0, 1.0])
    assert not batch_means(times, np.ones(4), np.arange(4.0)).known
    assert batch_means(times, np.array([1.0, 3.0, 1.0, 3.0]), np.arange(4.0)).mean == pytest.approx(1.75)


def test_the_difference_is_welchs() -> None:
    a, b = np.array([1.0, 2.0, 4.0, 5.0]), np.array([0.0, 0.1, 0.2, 0.1, 0.0])
    known = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    estimates = [batch_means(np.arange(float(len(each))), np.ones(len(each)), each) for each in (a, b)]
    assert difference_interval(*estimates, 0.9) == pytest.approx(tuple(known))
    assert difference_interval(estimates[0], Estimate(0.0, math.nan, 0), 0.9) is None
    assert difference_interval(Estimate(2.0, 0.0, 3), Estimate(1.5, 0.0, 3), 0.9) == (0.5, 0.5)


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_waiting_per_scatter_is_what_a_simulation_gives(ranks: int) -> None:
    arrival = np.random.default_rng(5).normal(size=(200_000 // ranks, ranks))
    wait = arrival.max(axis=1, keepdims=True) - arrival
    assert waiting_per_scatter(ranks) == pytest.approx(wait.mean() / wait.std(axis=0).mean(), rel=0.02)


def test_alone_nobody_waits() -> None:
    assert waiting_per_scatter(1) == 0.0


sizes = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 1000), st.floats(0, 1)),
    min_size=1,
    max_size=5,
    unique_by=lambda x: x[0],
)


@given(sizes)
def test_the_mean_message_lies_within_its_bounds(classes: list[tuple[int, int, float]]) -> None:
    operations, volumes = {}, {}  # whole bytes, as a counter of them has
    for exponent, count, share in classes:
        low, high = class_bounds(1 << exponent)
        operations[1 << exponent] = float(count)
        volumes[1 << exponent] = count * int(low) + int(share * count * (high - low))
    found = mean_message_bytes(operations, float(sum(volumes.values())))
    for size, volume in volumes.items():
        low, high = found[size]
        assert low * (1 - 1e-9) <= volume / operations[size] <= high * (1 + 1e-9)
        assert class_bounds(size)[0] * (1 - 1e-9) <= low <= high


def test_powers_of_two_are_told_exactly_also_in_a_mix() -> None:
    found = mean_message_bytes({8: 5.0, 1024: 3.0}, 5 * 8 + 3 * 1024.0)
    assert found == {8: (8.0, 8.0), 1024: (1024.0, 1024.0)}


def test_bytes_that_cannot_be_tell_nothing() -> None:
    assert mean_message_bytes({8: 5.0}, 1e6) == {8: class_bounds(8)}
    assert mean_message_bytes({8: 5.0}, 1.0) == {8: class_bounds(8)}


def test_settings_are_named_as_nccl_reads_them() -> None:
    assert environment("AllReduce", "NVLS_TREE", "SIMPLE") == {
        "NCCL_ALGO": "allreduce:nvlstree",
        "NCCL_PROTO": "allreduce:simple",
    }
    assert environment("AllGather", "RING", "") == {"NCCL_ALGO": "allgather:ring"}
