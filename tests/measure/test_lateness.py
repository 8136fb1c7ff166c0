"""Lateness from durations."""

import numpy as np
import pytest
from cluster.job import Cell, Job

from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.window import Differencer


def lateness_of(job: Job, min_operations: int = 5) -> Lateness:
    differencer = Differencer()
    first, second = job.ticks(2)
    differencer.step(first)
    window = differencer.step(second)
    assert window is not None
    return measure_lateness(window, job.vocabulary, min_operations)


def test_the_late_rank_is_the_one_with_the_shortest_collectives() -> None:
    job = Job(cells=(Cell(),))
    job.delay_seconds[3] = 0.002
    lateness = lateness_of(job)
    assert int(np.argmin(lateness.duration_seconds)) == 3
    assert lateness.lateness_seconds[3] == pytest.approx(0.002, rel=0.05)
    assert lateness.wait_seconds[3] == pytest.approx(0.002, rel=0.05)
    assert np.all(np.abs(np.delete(lateness.lateness_seconds, 3)) < 0.0002)


def test_a_hiccup_moves_the_arithmetic_mean_and_not_the_geometric() -> None:
    job = Job(cells=(Cell(),), nranks=4)
    differencer = Differencer()
    first, second = job.ticks(2)
    differencer.step(first)
    # One operation of rank 0 takes 2 s: its arithmetic mean grows tenfold, its log sum by ln(2 s / 1 ms) of 200.
    second.cells.seconds[0] += 2.0
    second.cells.log_microseconds[0] += np.log(2.0 / 0.001)
    window = differencer.step(second)
    assert window is not None
    lateness = measure_lateness(window, job.vocabulary, 5)
    assert abs(lateness.lateness_seconds[0]) < 0.0001
    assert lateness.wait_seconds[0] < -0.005


def test_cells_are_never_mixed() -> None:
    job = Job(cells=(Cell(size="1024", transfer_seconds=0.0001), Cell(size="1048576", transfer_seconds=0.1)))
    lateness = lateness_of(job)
    assert len(np.unique(lateness.cell)) == 2
    assert np.all(np.abs(lateness.lateness_seconds) < 0.02)


def test_only_operations_that_synchronize_everybody_count() -> None:
    assert len(lateness_of(Job(cells=(Cell("Broadcast"), Cell("Reduce")))).rank) == 0


def test_a_rank_needs_enough_operations_and_a_peer() -> None:
    assert len(lateness_of(Job(cells=(Cell(),)), min_operations=201).rank) == 0
    assert len(lateness_of(Job(nranks=1, cells=(Cell(),))).rank) == 0


def test_the_rate_includes_operations_that_were_not_measured() -> None:
    job = Job(nranks=2, cells=(Cell(),))
    differencer = Differencer()
    first, second = job.ticks(2)
    differencer.step(first)
    second.started.started[:] += 600.0
    window = differencer.step(second)
    assert window is not None
    # 200 measured in 2 s, of 800 launched.
    assert measure_lateness(window, job.vocabulary, 5).rate.tolist() == pytest.approx([400.0, 400.0])
