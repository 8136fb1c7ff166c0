"""Noise is no difference, and what moved is."""

from dataclasses import replace

import numpy as np
import pytest
from cluster.job import Cell, Job

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.builder import BaselineBuilder
from sentinel.baseline.diff import diff_baselines
from sentinel.config.detection import BaselineSettings

SETTINGS = BaselineSettings.model_validate({"warm_up": "4s"})
FLOOR = 0.02


def built(job: Job, ticks: int = 40) -> Baseline:
    builder = BaselineBuilder(SETTINGS)
    for snapshot in job.ticks(ticks):
        builder.add(snapshot)
    return builder.build()


def test_a_baseline_is_equal_to_itself() -> None:
    baseline = built(Job())
    diff = diff_baselines(baseline, baseline, FLOOR)
    assert not diff.differs
    assert diff.shifts == ()
    assert diff.compared == 16


def test_two_builds_of_one_job_differ_by_noise_only() -> None:
    differ = [
        diff_baselines(built(Job(nranks=16, seed=seed, jitter_seconds=0.0005)),
                       built(Job(nranks=16, seed=1000 + seed, jitter_seconds=0.0005)), floor).differs
        for seed in range(20)
        for floor in (0.0, FLOOR)
    ]  # fmt: skip
    assert sum(differ) <= 2  # one in a hundred is expected


def test_a_rank_that_arrives_later_now_comes_first() -> None:
    job = Job(seed=2)
    job.delay_seconds[5] = 0.001
    job.late_everywhere[2] = 0.0003
    diff = diff_baselines(built(Job()), built(job), FLOOR)
    assert diff.differs
    worst = diff.changed[0]
    by_rank = {(change.b.rank, change.b.op): change for change in diff.changed}
    assert set(by_rank) == {(5, "AllReduce"), (2, "AllReduce"), (2, "AllGather")}
    late = by_rank[5, "AllReduce"]
    assert late.after_seconds - late.before_seconds == pytest.approx(0.001, abs=0.0001)
    assert late.name == "lateness_seconds"
    assert abs(worst.deviations) == max(abs(change.deviations) for change in diff.changed)
    back = diff_baselines(built(job), built(Job()), FLOOR)
    assert {(change.b.rank, change.b.op) for change in back.changed} <= set(by_rank)


def test_what_the_spread_explains_is_no_change() -> None:
    row = replace(
        built(Job()).rows[0], lateness_seconds=0.0, lateness_spread_seconds=1e-5, autocorrelation=0.0, ticks=40
    )
    alone = Baseline(0.0, 1.0, 2.0, (row,))

    def moved(by: float, **changes: object) -> bool:
        other = Baseline(0.0, 1.0, 2.0, (replace(row, lateness_seconds=by, **changes),))
        return diff_baselines(alone, other, 0.0).differs

    error = 1e-5 * np.sqrt(np.pi / 2 / 40) * np.sqrt(2)
    # Two values are compared. t with 39 degrees of freedom: half of 1% lies beyond 2.98.
    assert moved(3.1 * error)
    assert moved(-3.1 * error)
    assert not moved(2.9 * error)
    assert not moved(3.1 * error, autocorrelation=0.5)
    assert not moved(3.1 * error, ticks=10)
    floored = diff_baselines(alone, Baseline(0.0, 1.0, 2.0, (replace(row, lateness_seconds=3.1 * error),)), FLOOR)
    assert not floored.differs


def test_rows_are_gone_and_new_by_role() -> None:
    a = built(Job(job_id="1", cells=(Cell(), Cell("AllGather", "65536"))))
    b = built(Job(job_id="1", cells=(Cell(), Cell("AllGather", "131072"))))
    diff = diff_baselines(a, b, FLOOR)
    assert {(row.op, row.size) for row in diff.gone} == {("AllGather", "65536")}
    assert {(row.op, row.size) for row in diff.new} == {("AllGather", "131072")}
    assert (len(diff.gone), len(diff.new), diff.compared) == (8, 8, 8)
    other = diff_baselines(a, built(Job(job_id="2")), FLOOR)
    assert (len(other.gone), len(other.new), other.compared, other.changed) == (16, 16, 0, ())


def test_a_new_communicator_id_and_another_gpu_are_the_same_row() -> None:
    a = built(Job())
    b = built(Job(comm="00000000000000bb", seed=3))
    rows = tuple(replace(row, node="node9") if row.rank == 1 else row for row in b.rows)
    diff = diff_baselines(a, replace(b, rows=rows), FLOOR)
    assert not diff.differs
    changed = tuple(replace(row, lateness_seconds=0.01) if row.rank == 1 else row for row in rows)
    assert all(change.moved for change in diff_baselines(a, replace(b, rows=changed), FLOOR).changed)


def test_a_slower_fabric_is_told_and_is_no_difference() -> None:
    slow = Job(seed=4)
    slow.transfer_ratio = 1.5
    diff = diff_baselines(built(Job()), built(slow), FLOOR)
    assert not diff.differs
    shift = diff.shifts[0]
    assert (shift.op, shift.ranks) == ("AllReduce", 8)
    assert shift.ratio == pytest.approx(0.45, abs=0.05)


def test_nothing_to_compare() -> None:
    empty = Baseline(0.0, 1.0, 2.0, ())
    assert not diff_baselines(empty, empty, FLOOR).differs
