"""A fabric that wanders is compared with where it stood."""

import numpy as np
import pytest
from cluster.watched import Watched, name_of
from simulator.cluster import Cluster
from simulator.faults import SlowFabric
from simulator.noise import Ar1, Imbalance, Normal
from simulator.presets import fsdp

from sentinel.detect.fabric_history import FabricReading, Rise
from sentinel.detect.fabric_witness import fabric_witness, witness_values

FLOOR = 0.02
BEGIN = 7200.0


def reading(transfer: float, wire: float = np.nan, rho: float = 0.9, noise: float = 0.1) -> FabricReading:
    """Of one communicator, whose transfers and network steps have risen by so much."""
    one = np.ones(1)
    return FabricReading(
        comm=np.zeros(1, dtype=np.int32),
        excess_seconds=one,
        cost_ratio=one,
        time_ratio=one,
        cells_ratio=one,
        transfer=Rise(transfer * one, noise * one, rho * one, FLOOR),
        wire=Rise(wire * one, noise * one, rho * one, FLOOR),
        normal_seconds=one,
    )


def sigmas(now: FabricReading, before: FabricReading, ticks: float = 1.0) -> float:
    kept = np.zeros(1, dtype=np.int64)
    anchor = np.nan_to_num(witness_values(before, kept))
    return float(fabric_witness(now, kept)(kept, anchor, np.array([ticks]))[0])


def test_a_step_counts_by_what_one_tick_changes() -> None:
    # One tick of AR(1) noise strays by sqrt(1 - 0.81) of its standard deviation from what was expected.
    one_tick = np.hypot(0.1 * np.sqrt(1 - 0.9**2), FLOOR)
    assert sigmas(reading(0.2), reading(0.0)) == pytest.approx(0.2 / one_tick)
    assert sigmas(reading(0.2), reading(0.1)) == pytest.approx((0.2 - 0.09) / one_tick)


def test_what_wanders_there_over_many_ticks_counts_little() -> None:
    lasting = np.hypot(0.1 * np.sqrt(1.9 / 0.1), FLOOR)
    assert sigmas(reading(0.2), reading(0.0), np.inf) == pytest.approx(0.2 / lasting)
    assert sigmas(reading(0.2), reading(0.0), 3.0) < sigmas(reading(0.2), reading(0.0))


def test_what_was_fast_is_no_anchor() -> None:
    assert sigmas(reading(0.2), reading(-0.5)) == sigmas(reading(0.2), reading(0.0), np.inf)
    assert sigmas(reading(0.2), reading(-0.05)) == sigmas(reading(0.2), reading(0.0))


def test_without_autocorrelation_the_anchor_does_not_matter() -> None:
    assert sigmas(reading(0.2, rho=0.0), reading(0.1)) == sigmas(reading(0.2, rho=0.0), reading(0.0), np.inf)


def test_network_steps_have_to_agree() -> None:
    assert sigmas(reading(0.4, 0.2), reading(0.0, 0.0)) == sigmas(reading(0.2), reading(0.0))
    assert sigmas(reading(0.4, 0.2), reading(0.0, 0.1)) < sigmas(reading(0.4, 0.2), reading(0.0, 0.0))
    assert sigmas(reading(0.4, 0.1), reading(0.0, 0.0)) == 0.0  # too little to be the reason


@pytest.mark.parametrize("ranks", [64, 256])
def test_a_small_step_of_a_wandering_fabric_is_named_in_three_ticks(ranks: int) -> None:
    noise = (Normal(0.02), Ar1(0.01, 0.9), Imbalance(0.005))
    job = Watched(Cluster(fsdp(ranks), noise, seed=3).add(SlowFabric(cost_ratio=0.05, begin=BEGIN)))
    job.until(BEGIN + 300)
    assert [name_of(incident) for incident in job.opened] == [("slow_fabric", ())]
    assert job.delay_ticks(job.opened[0], BEGIN) <= 3
