"""Differences between snapshots."""

import numpy as np
import pytest
from cluster.job import Cell, Job

from sentinel.measure.window import Differencer, Window


def window(differencer: Differencer, job: Job) -> Window:
    result = differencer.step(next(job.ticks(1)))
    assert result is not None
    return result


def started(job: Job) -> Differencer:
    differencer = Differencer()
    assert differencer.step(next(job.ticks(1))) is None
    return differencer


def test_counts_what_finished_between_two_snapshots() -> None:
    job = Job(nranks=2, cells=(Cell(),))
    result = window(started(job), job)
    assert result.length_seconds == 2.0
    assert result.operations.tolist() == [200.0, 200.0]
    assert result.progress.launched.tolist() == [200.0, 200.0]
    assert result.progress.total.tolist() == [400.0, 400.0]
    assert np.all(result.seconds / result.operations > 0.001)


def test_a_counter_reset_is_not_a_negative_count() -> None:
    job = Job(nranks=2, cells=(Cell(),))
    differencer = started(job)
    window(differencer, job)
    job.reset_counters(1)
    result = window(differencer, job)
    assert result.rank.tolist() == [0]
    assert result.resets == 1
    assert np.isnan(result.progress.launched[1])
    assert window(differencer, job).rank.tolist() == [0, 1]


def test_a_series_that_was_away_has_no_window_until_it_has_been_back_once() -> None:
    job = Job(nranks=2, cells=(Cell(),))
    differencer = started(job)
    job.silent = {1}
    assert window(differencer, job).rank.tolist() == [0]
    job.silent = set()
    assert window(differencer, job).rank.tolist() == [0]
    assert window(differencer, job).rank.tolist() == [0, 1]


def test_what_did_not_move_has_no_row() -> None:
    job = Job(nranks=2)
    differencer = started(job)
    job.paused = True
    assert len(window(differencer, job).operations) == 0


def test_time_has_to_advance() -> None:
    job = Job()
    differencer = Differencer()
    snapshot = next(job.ticks(1))
    differencer.step(snapshot)
    with pytest.raises(ValueError, match="advance"):
        differencer.step(snapshot)
