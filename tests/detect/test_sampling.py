"""What sampling must not take away: few operations are timed, and the ranks are still told apart."""

import pytest
from cluster.job import Cell, Job
from cluster.judge import SETTINGS, findings, learnt, steps

from sentinel.config.detection import DetectionSettings
from sentinel.model.incident import Verdict

ONE_IN_SIXTEEN = 1 / 16
QUIET, NOISY = Cell("AllGather", "65536"), Cell("ReduceScatter", "1048576", jitter_seconds=0.004)


def sampled(**changes: object) -> Job:
    job = Job(**changes)  # type: ignore[arg-type]
    job.timed_ratio = ONE_IN_SIXTEEN
    return job


def test_the_noise_of_one_cell_does_not_hide_what_another_shows() -> None:
    job = sampled(cells=(QUIET, NOISY))
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    assessments = steps(detector, job.ticks(10))
    first = next(number for number, assessment in enumerate(assessments, start=1) if assessment.findings)
    assert first <= 3
    named = findings(assessments)
    assert {finding.culprit.ranks for finding in named} == {(3,)}
    assert named[-1].evidence["shown_by"] == "AllGather 65536 RING SIMPLE"
    job.delay_seconds[3] = 0.0
    assert not steps(detector, job.ticks(3))[-1].findings


def test_what_a_late_rank_costs_counts_the_operations_that_nobody_timed() -> None:
    job = sampled()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    finding = findings(steps(detector, job.ticks(6)))[-1]
    assert finding.cost_ratio == pytest.approx(1 / 11, rel=0.15)


def test_a_little_in_every_cell_shows_in_all_of_them_together() -> None:
    cells = tuple(Cell(size=str(1 << n), jitter_seconds=0.002) for n in range(10, 26))
    job = Job(cells=cells, step_seconds=0.2)
    detector = learnt(job, ticks=100)
    job.late_everywhere[3] = 0.001
    named = findings(steps(detector, job.ticks(30)))
    assert {finding.culprit.ranks for finding in named} == {(3,)}
    assert named[0].evidence["shown_by"] == "all of its cells together"


def test_a_healthy_job_of_noisy_cells_names_nobody() -> None:
    job = sampled(nranks=16, cells=(QUIET, NOISY), seed=7)
    detector = learnt(job)
    assert findings(steps(detector, job.ticks(400))) == []


@pytest.mark.parametrize("seed", range(4))
def test_fewer_operations_than_were_learnt_from_are_noise_and_not_news(seed: int) -> None:
    # Two ranks: nobody to compare the noise with.
    job = Job(nranks=2, cells=(NOISY,), seed=seed)
    detector = learnt(job, ticks=200)
    job.timed_ratio = ONE_IN_SIXTEEN
    assert findings(steps(detector, job.ticks(200))) == []


def test_an_alarm_ends_with_the_messages_that_raised_it() -> None:
    job = sampled()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    assert steps(detector, job.ticks(6))[-1].findings
    job.delay_seconds[3] = 0.0
    job.cells = (Cell("AllGather", "65536", 0.0002),)
    assert findings(steps(detector, job.ticks(40))[2:]) == []


@pytest.mark.parametrize("stuck", [0, 2, 7])
def test_a_stall_in_an_operation_that_nobody_timed_names_who_launched_fewer(stuck: int) -> None:
    job = sampled()
    detector = learnt(job)
    job.stuck = stuck
    assessments = steps(detector, job.ticks(10))
    named = findings(assessments)
    assert {(finding.culprit.verdict, finding.culprit.ranks) for finding in named} == {(Verdict.STALLED, (stuck,))}
    assert named[-1].victims == 7
    assert named[-1].evidence["operations_behind"] == [{"rank": stuck, "operations": 1.0}]
    assert assessments[-1].states == {job.comm: "stalled"}
    # Not before the time that the configuration gives it, counted from the first sample without progress.
    assert not findings(assessments[:5])
    assert assessments[5].findings
    assert len({finding.started_at for finding in named}) == 1
    job.release()
    assert findings(steps(detector, job.ticks(3))) == []


@pytest.mark.parametrize("away", [{2}, {0, 5}, set(range(8))])
def test_a_stall_of_counts_is_held_until_they_move(away: set[int]) -> None:
    job = sampled()
    detector = learnt(job)
    job.stuck = 2
    key = findings(steps(detector, job.ticks(10)))[-1].culprit.key
    job.silent = away
    gone = steps(detector, job.ticks(5))
    job.silent = set()
    back = steps(detector, job.ticks(10))
    for assessment in (*gone, *back):
        assert {finding.culprit.key for finding in assessment.findings} | assessment.held == {key}
    assert back[-1].findings
    job.release()
    assert all(not each.findings and not each.held for each in steps(detector, job.ticks(3)))


def test_a_job_that_writes_a_checkpoint_launched_the_same_everywhere() -> None:
    job = sampled()
    detector = learnt(job)
    job.paused = True
    assessments = steps(detector, job.ticks(40))
    assert findings(assessments) == []
    assert assessments[-1].states == {job.comm: "paused"}


def test_nobody_is_accused_of_what_a_rank_that_is_not_scraped_may_have_done() -> None:
    job = sampled()
    detector = learnt(job)
    job.silent = {2, 5}
    steps(detector, job.ticks(2))
    job.stuck = 2
    assert findings(steps(detector, job.ticks(20))) == []


def test_a_stall_among_those_that_are_scraped_names_the_one_that_is_behind() -> None:
    job = sampled()
    detector = learnt(job)
    job.silent = {5, 6}
    steps(detector, job.ticks(2))
    job.stuck = 2
    named = findings(steps(detector, job.ticks(10)))
    assert {finding.culprit.ranks for finding in named} == {(2,)}
    assert named[-1].evidence["ranks_without_data"] == 2


def test_counts_that_differ_because_nobody_scrapes_are_no_stall() -> None:
    job = sampled()
    detector = learnt(job)
    job.stuck = 2  # its peers' last sample is of one operation later
    steps(detector, job.ticks(1))
    job.scraped_at = job.time
    assert findings(steps(detector, job.ticks(40))) == []


def test_a_stall_of_counts_can_be_switched_off() -> None:
    settings = DetectionSettings.model_validate({**SETTINGS.model_dump(), "stalled": {"enabled": False}})
    job = sampled()
    detector = learnt(job, settings=settings)
    job.stuck = 2
    assert findings(steps(detector, job.ticks(20))) == []
