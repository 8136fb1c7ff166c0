"""What is kept of a communicator's windows."""

import numpy as np
import pytest
from cluster.job import Cell, Job

from sentinel.measure.lateness import measure_lateness
from sentinel.measure.window import Differencer
from sentinel.plot.course import CULPRITS_SHOWN, CommunicatorCourse, Recorder


def recorded(job: Job, ticks: int, culprits: dict[int, int]) -> CommunicatorCourse:
    recorder, differencer = Recorder(job.vocabulary.code(job.comm), job.vocabulary), Differencer()
    for snapshot in job.ticks(ticks):
        window = differencer.step(snapshot)
        lateness = measure_lateness(window, job.vocabulary, 5) if window else None
        recorder.add(snapshot.time, window, lateness, culprits)
    return recorder.course()


def test_the_culprit_stands_apart_from_its_peers() -> None:
    job = Job()
    job.delay_seconds[3] = 0.002
    course = recorded(job, 4, {3: 103})
    assert course.times.tolist() == [job.start + 2 * n for n in range(1, 5)]
    assert course.ranks == (103,)
    reduce, gather = course.cells
    assert reduce.labels == ("AllReduce", "1048576", "RING", "SIMPLE")
    assert gather.labels == ("AllGather", "65536", "RING", "SIMPLE")
    assert reduce.total_seconds > gather.total_seconds > 0.0
    assert reduce.lateness_seconds.culprits[1:, 0] == pytest.approx(0.002, abs=0.0001)
    assert np.isnan(reduce.lateness_seconds.culprits[0, 0])  # no window ends at the first instant
    low, lower, middle, upper, high = reduce.duration_seconds.peers[1:].T
    assert middle == pytest.approx(0.003, abs=0.0002)
    assert (low > reduce.duration_seconds.culprits[1:, 0] + 0.0015).all()  # who is late waits for nobody
    assert (low <= lower).all()
    assert (lower <= middle).all()
    assert (middle <= upper).all()
    assert (upper <= high).all()
    steps = 2 / (0.010 + 0.002)
    assert course.launched_rate.peers[1:, 2] == pytest.approx(2 * steps / 2, rel=0.01)


def test_other_communicators_are_left_out() -> None:
    job = Job()
    recorder, differencer = Recorder(job.vocabulary.code("00000000000000bb"), job.vocabulary), Differencer()
    for snapshot in job.ticks(3):
        window = differencer.step(snapshot)
        recorder.add(snapshot.time, window, measure_lateness(window, job.vocabulary, 5) if window else None, {})
    course = recorder.course()
    assert course.cells == ()
    assert course.empty


def test_who_has_no_series_for_a_while_has_a_gap() -> None:
    job = Job()
    recorder, differencer = Recorder(job.vocabulary.code(job.comm), job.vocabulary), Differencer()
    for number, snapshot in enumerate(job.ticks(8)):
        job.silent = {3} if 2 <= number < 5 else set()
        window = differencer.step(snapshot)
        recorder.add(snapshot.time, window, measure_lateness(window, job.vocabulary, 5) if window else None, {3: 3})
    lateness = recorder.course().cells[0].lateness_seconds
    assert np.isnan(lateness.culprits[:, 0]).tolist() == [True, False, False, True, True, True, True, False]
    assert np.isnan(lateness.peers[:, 2]).tolist() == [True] + [False] * 7


def test_of_many_culprits_the_first_are_shown_and_none_is_a_peer() -> None:
    job = Job(nranks=16, cells=(Cell(),))
    job.delay_seconds[:12] = 0.002
    (cell,) = (course := recorded(job, 3, {rank: rank for rank in range(12)})).cells
    assert course.ranks == tuple(range(CULPRITS_SHOWN))
    assert cell.duration_seconds.culprits.shape == (3, CULPRITS_SHOWN)
    assert (cell.duration_seconds.peers[1:, 0] > 0.0025).all()


def test_a_stalled_communicator_launches_nothing() -> None:
    job = Job()
    recorder, differencer = Recorder(job.vocabulary.code(job.comm), job.vocabulary), Differencer()
    for number, snapshot in enumerate(job.ticks(8)):
        if number == 3:
            job.stuck = 2
        window = differencer.step(snapshot)
        recorder.add(snapshot.time, window, measure_lateness(window, job.vocabulary, 5) if window else None, {2: 2})
    course = recorder.course()
    assert (course.launched_rate.culprits[1:4, 0] > 0).all()
    assert course.launched_rate.culprits[4:, 0].tolist() == [0.0] * 4
    assert np.isnan(course.cells[0].duration_seconds.peers[4:]).all()
