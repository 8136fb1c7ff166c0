"""Each kind of noise has the shape that its name says."""

from itertools import pairwise

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.noise import Ar1, Daily, Hiccups, Imbalance, LogNormal, Noise, NoiseState, Normal, StudentT
from simulator.presets import fsdp
from simulator.reading import mean_seconds

GPUS = np.arange(2000)


def state(*parts: Noise) -> NoiseState:
    return NoiseState(parts, np.random.default_rng(1), len(GPUS))


def each(*parts: Noise) -> np.ndarray:
    noise = state(*parts)
    return noise.compute(1.0, noise.mean(GPUS), 200) - 1.0


def test_normal() -> None:
    assert each(Normal(0.02)).std() == pytest.approx(0.02, rel=0.02)


def test_log_normal_is_skewed_by_operation_or_by_tick() -> None:
    by_operation = each(LogNormal(0.02, 1.2))
    assert np.median(by_operation) == pytest.approx(0.02, rel=0.05)
    assert by_operation.mean() == pytest.approx(0.02 * np.exp(1.2**2 / 2), rel=0.05)
    by_tick = each(LogNormal(0.02, 1.2, per_tick=True))
    assert np.ptp(by_tick, axis=0).max() < 1e-12
    assert np.median(by_tick) == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_ar1_remembers(rho: float) -> None:
    noise = state(Ar1(0.01, rho))
    before = noise.mean(GPUS) - 1.0
    noise.advance(len(GPUS))
    after = noise.mean(GPUS) - 1.0
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(rho, abs=0.05)
    assert after.std() == pytest.approx(0.01, rel=0.05)


def test_ar1_carries_on_from_tick_to_tick_in_what_ranks_count() -> None:
    cluster = Cluster(fsdp(256), noise=(Ar1(0.05, 0.9),))
    snapshots = list(cluster.snapshots(12))
    means = np.array([mean_seconds(a, b, "AllGather", 256) for a, b in pairwise(snapshots[1:])])
    lateness = means - np.median(means, axis=1, keepdims=True)
    assert np.corrcoef(lateness[:-1].ravel(), lateness[1:].ravel())[0, 1] == pytest.approx(0.9, abs=0.05)


def test_student_t_has_heavy_tails() -> None:
    drawn = each(StudentT(0.01, 2.2))
    assert np.quantile(np.abs(drawn), 0.999) > 8 * np.quantile(np.abs(drawn), 0.75)


def test_hiccups_are_rare_and_long() -> None:
    drawn = each(Hiccups(0.040, 1000.0))
    assert np.count_nonzero(drawn > 0.039) / drawn.size == pytest.approx(1e-3, rel=0.2)
    assert np.quantile(drawn, 0.99) == pytest.approx(0.0, abs=1e-9)


def test_a_daily_cycle_slows_the_whole_job() -> None:
    noise = state(Daily(0.1))
    assert noise.factor(21_600.0) == pytest.approx(1.1)
    assert noise.factor(64_800.0) == pytest.approx(0.9)
    cluster = Cluster(fsdp(16), noise=(Daily(0.1, 2400.0),))
    snapshots = list(cluster.snapshots(80))
    rates = np.diff([snapshot.started.started[0] for snapshot in snapshots])
    assert rates[50:70].mean() > 1.1 * rates[10:30].mean()


def test_gpus_differ_for_good() -> None:
    noise = state(Imbalance(0.02))
    before = noise.mean(GPUS)
    noise.advance(len(GPUS) + 8)
    assert (noise.mean(GPUS) == before).all()
    assert before.std() == pytest.approx(0.02, rel=0.1)


def test_noise_adds_up_and_never_makes_time_run_backwards() -> None:
    drawn = each(Normal(0.5), Normal(0.5), StudentT(1.0, 2.2))
    assert drawn.min() >= -0.95
    assert each(Normal(0.02), Normal(0.02)).std() == pytest.approx(0.02 * np.sqrt(2), rel=0.03)
