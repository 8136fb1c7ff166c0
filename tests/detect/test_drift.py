"""Slow trends, and all that looks like them. A simulated hour costs a few milliseconds."""

from collections.abc import Callable

import numpy as np
import pytest
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.noise import Ar1, Daily, Normal
from simulator.presets import fsdp

from sentinel.config.detection_drift import DriftSettings
from sentinel.detect.drift import TRANSFER, DriftReading, DriftTest, Series, lateness_series
from sentinel.measure.labels import Labels
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import Communicator, Member, Membership, MembershipReader, Role
from sentinel.measure.window import Differencer
from sentinel.model.incident import CulpritKey, Verdict

TICK = 30.0
HOUR = round(3600 / TICK)
START = 1_700_000_000.0
RANKS = 64
Shape = Callable[[float], float]  # of the hours since the start, to a share of the job's time


def noise(seed: int, count: int, ratio: float, rho: float) -> Callable[[], np.ndarray]:
    """AR(1) lateness of every rank, tick by tick."""
    random = np.random.default_rng(seed)
    state = ratio * random.standard_normal(count)

    def advance() -> np.ndarray:
        state[:] = rho * state + np.sqrt(1 - rho**2) * ratio * random.standard_normal(count)
        return state

    return advance


class Watch:
    """One communicator of `RANKS` ranks, and a rank whose lateness has a shape."""

    def __init__(self, ratio: float = 0.003, rho: float = 0.9, seed: int = 1, ranks: int = RANKS) -> None:
        self.ranks = ranks
        members = {rank: Member(rank, rank, f"node{rank // 8}", str(rank % 8), f"GPU-{rank}") for rank in range(ranks)}
        role = Role("job", "dp", ranks, ranks // 8, f"0-{ranks - 1}")
        self.membership = Membership({7: Communicator(7, "aa", "job", role, members)})
        self.test = DriftTest(DriftSettings(), 1.0)
        self.noise = noise(seed, ranks, ratio, rho)
        self.ticks = 0
        self.late: set[CulpritKey] = set()

    def run(
        self, hours: float, shape: Shape = lambda _: 0.0, rank: int = 5, scale: Shape = lambda _: 1.0
    ) -> list[DriftReading]:
        readings = []
        for _ in range(round(hours * HOUR)):
            now = self.ticks / HOUR
            ratio = self.noise().copy()
            ratio[rank] += shape(now)
            series = Series(
                np.full(self.ranks, 7, dtype=np.int32), np.arange(self.ranks, dtype=np.int32), ratio * scale(now)
            )
            readings.append(self.test.step([series], self.membership, self.late, START + self.ticks * TICK))
            self.ticks += 1
        return readings


def found(readings: list[DriftReading]) -> set[CulpritKey]:
    return {finding.culprit.key for reading in readings for finding in reading.findings}


@pytest.mark.parametrize("began", [0.0, 3.0, 20.0])
def test_five_percent_in_six_hours_is_found_before_three(began: float) -> None:
    watch = Watch()
    readings = watch.run(began + 3.6, lambda hour: max(0.0, hour - began) * 0.05 / 6)
    assert found(readings) == {(Verdict.DRIFT, "job", (5,), "node0")}
    first = next(reading for reading in readings if reading.findings).findings[0]
    assert first.started_at == pytest.approx(START + began * 3600, abs=1800.0) or began == 0.0
    assert first.evidence["slope_ratio_per_hour"] == pytest.approx(0.05 / 6, rel=0.25)
    assert first.evidence["p_value"] <= first.evidence["p_threshold"]
    assert first.evidence["gpu_uuid"] == "GPU-5"
    assert 0.005 <= first.cost_ratio < 0.03
    assert first.victims == RANKS - 1


def test_what_has_become_normal_stays_a_drift_until_it_is_gone() -> None:
    watch = Watch()
    assert found(watch.run(6, lambda hour: hour * 0.05 / 6))
    plateau = watch.run(48, lambda _: 0.05)
    assert all(reading.findings for reading in plateau)
    assert plateau[-1].findings[0].cost_ratio == pytest.approx(0.05, abs=0.005)
    gone = watch.run(3, lambda _: 0.0)
    assert gone[-1] == DriftReading((), frozenset())


@pytest.mark.parametrize(("ratio", "rho"), [(0.003, 0.0), (0.01, 0.9), (0.03, 0.9), (0.01, 0.99)])
def test_noise_that_remembers_is_no_drift(ratio: float, rho: float) -> None:
    assert found(Watch(ratio, rho).run(5 * 24)) == set()


def test_heavy_tails_are_no_drift() -> None:
    watch, random = Watch(), np.random.default_rng(1)
    watch.noise = lambda: 0.01 * random.standard_t(2.2, RANKS)
    assert found(watch.run(3 * 24)) == set()


def test_a_job_that_is_slower_by_day_is_no_drift() -> None:
    watch = Watch(0.002)
    habit, inner = 0.03 * np.random.default_rng(1).standard_normal(RANKS), watch.noise
    watch.noise = lambda: habit + inner()
    assert found(watch.run(4 * 24, scale=lambda hour: 1 + 0.1 * np.sin(2 * np.pi * hour / 24))) == set()


@pytest.mark.parametrize("size", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("at", [0.7, 2.0, 5.0, 9.0])
def test_a_step_is_no_drift(size: float, at: float) -> None:
    for ratio, rho in ((0.001, 0.0), (0.003, 0.9)):
        assert found(Watch(ratio, rho).run(at + 10, lambda hour: size * (hour >= at))) == set()


def test_what_stays_small_is_no_drift() -> None:
    assert found(Watch(0.0003, 0.0).run(12, lambda hour: min(hour, 6) * 0.004 / 6)) == set()


def test_a_rank_that_is_late_is_not_drifting_as_well() -> None:
    watch = Watch()
    watch.late = {(Verdict.LATE_RANK, "job", (5,), "node0")}
    for reading in watch.run(6, lambda hour: hour * 0.05 / 6):
        assert reading == DriftReading((), frozenset())
    watch.late = {(Verdict.LATE_RANK, "job", (6,), "node0")}
    assert watch.run(0.1, lambda _: 0.05)[-1].findings


def test_while_nothing_is_measured_it_is_held_and_what_is_over_is_forgotten() -> None:
    watch = Watch()
    assert found(watch.run(6, lambda hour: hour * 0.05 / 6))
    key = (Verdict.DRIFT, "job", (5,), "node0")
    later = START + watch.ticks * TICK
    assert watch.test.step([], watch.membership, set(), later) == DriftReading((), frozenset({key}))
    assert watch.test.step([], watch.membership, set(), later + 7 * 3600) == DriftReading((), frozenset({key}))
    watch.test.forget({7})
    assert watch.test.step([], watch.membership, set(), later + 8 * 3600) == DriftReading((), frozenset())


def test_a_job_s_own_floor_holds() -> None:
    watch = Watch()
    watch.test = DriftTest(DriftSettings(), 1.0, {"job": DriftSettings(min_rise_ratio=0.04)}.__getitem__)
    readings = watch.run(7, lambda hour: min(hour, 6) * 0.05 / 6)
    assert next(reading for reading in readings if reading.findings).findings[0].cost_ratio > 0.035


def test_a_transfer_that_gets_longer_names_the_communicator() -> None:
    watch = Watch()
    none = np.empty(0, dtype=np.int32)
    random = np.random.default_rng(1)
    readings = []
    for tick in range(6 * HOUR):
        ratio = np.array([0.05 / 6 * tick / HOUR + 0.002 * random.standard_normal()])
        transfer = Series(np.array([7], dtype=np.int32), np.array([TRANSFER], dtype=np.int32), ratio)
        nobody = Series(none, none, np.empty(0))
        readings.append(watch.test.step([nobody, transfer], watch.membership, set(), START + tick * TICK))
    assert found(readings) == {(Verdict.DRIFT, "job", (), "aa")}
    assert readings[-1].findings[0].evidence["of"] == "transfer"
    assert readings[-1].findings[0].victims == RANKS


def test_lateness_is_pooled_over_a_rank_s_cells_in_communicators_that_may_be_judged() -> None:
    nothing = dict.fromkeys(
        ("operations", "duration_seconds", "mean_seconds", "peers_seconds", "wait_seconds"), np.ones(5)
    )
    lateness = Lateness(
        labels=Labels(comm=np.array([7, 7, 7, 7, 9], dtype=np.int32), rank=np.array([0, 1, 0, 1, 0], dtype=np.int32)),
        rate=np.array([10.0, 10.0, 100.0, 100.0, 5.0]),
        lateness_seconds=np.array([0.001, -0.001, 0.0002, -0.0002, 1.0]),
        **nothing,
    )
    series = lateness_series(lateness, {7})
    assert series.comm.tolist() == [7, 7]
    assert series.rank.tolist() == [0, 1]
    assert series.ratio == pytest.approx([0.03, -0.03])


@pytest.mark.parametrize("rank", [None, 3])
def test_a_simulated_job_whose_rank_gets_later_and_one_whose_ranks_do_not(rank: int | None) -> None:
    """Operations, durations and counters, down to the share of a step that the rank's delay costs."""
    fault = LateRank(rank=rank or 0, cost_ratio=0.05, begin=3600.0, ramp_seconds=6 * 3600.0)
    cluster = Cluster(fsdp(16, layers=2), noise=(Normal(0.02), Ar1(0.002, 0.9), Daily(0.1)), tick_seconds=60.0)
    cluster.add(*([fault] if rank is not None else []))
    test, members, differencer = DriftTest(DriftSettings(), 1.0), MembershipReader(), Differencer()
    readings = []
    for snapshot in cluster.snapshots(round(5.5 * 60)):
        membership, window = members.read(snapshot), differencer.step(snapshot)
        if window is not None:
            lateness = measure_lateness(window, snapshot.vocabulary, 5)
            series = lateness_series(lateness, set(membership.communicators))
            readings.append(test.step([series], membership, set(), snapshot.time))
    names = {key[2] for key in found(readings)}
    assert names == (set() if rank is None else {(rank,)})
