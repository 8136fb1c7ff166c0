"""The detectors on a simulated job: what they name, what they hold, what they leave alone."""

from dataclasses import replace

import numpy as np
import pytest
from cluster.job import Cell, Job
from cluster.judge import SETTINGS, findings, learnt, steps

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Verdict
from sentinel.model.snapshot import ExporterTable, Snapshot


def test_names_the_late_rank_and_nobody_else_within_three_ticks() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    assessments = steps(detector, job.ticks(6))
    first = next(number for number, assessment in enumerate(assessments, start=1) if assessment.findings)
    assert first <= 3
    assert {finding.culprit.ranks for finding in findings(assessments)} == {(3,)}
    finding = findings(assessments)[-1]
    assert finding.culprit.verdict is Verdict.LATE_RANK
    # One millisecond in every eleven: what the fault costs by construction.
    assert finding.cost_ratio == pytest.approx(1 / 11, rel=0.15)
    assert finding.victims == 7
    assert finding.evidence["lateness_seconds"] == pytest.approx(0.001, rel=0.1)
    assert finding.evidence["duration_seconds"] < finding.evidence["peers_duration_seconds"]


def test_a_healthy_job_names_nobody() -> None:
    job = Job(nranks=16, seed=7)
    detector = learnt(job)
    assert findings(steps(detector, job.ticks(400))) == []


def test_two_late_ranks_are_two_findings() -> None:
    job = Job(nranks=16)
    detector = learnt(job)
    job.delay_seconds[[2, 11]] = 0.001
    assert {finding.culprit.ranks for finding in findings(steps(detector, job.ticks(6)))} == {(2,), (11,)}


def test_a_rank_late_since_before_the_baseline_is_not_news() -> None:
    job = Job()
    job.delay_seconds[5] = 0.001
    detector = learnt(job)
    assert findings(steps(detector, job.ticks(50))) == []


def test_without_any_history_a_rank_far_from_its_peers_is_named() -> None:
    job = Job()
    job.delay_seconds[5] = 0.001
    settings = SETTINGS.model_copy(update={"baseline": SETTINGS.baseline.model_copy(update={"min_ticks": 60})})
    assessments = steps(Detector(settings), job.ticks(12))
    assert {finding.culprit.ranks for finding in findings(assessments)} == {(5,)}
    assert findings(assessments)[-1].evidence["test"].startswith("peers only")


def test_learns_on_the_way_when_there_is_no_baseline() -> None:
    job = Job()
    detector = Detector(SETTINGS)
    assert findings(steps(detector, job.ticks(30))) == []
    job.delay_seconds[1] = 0.001
    assert {finding.culprit.ranks for finding in findings(steps(detector, job.ticks(6)))} == {(1,)}


def test_what_is_learnt_on_the_way_is_not_swallowed_by_the_fault() -> None:
    job = Job()
    detector = Detector(SETTINGS)
    steps(detector, job.ticks(20))
    job.delay_seconds[1] = 0.001
    assessments = steps(detector, job.ticks(300))
    assert all(assessment.findings for assessment in assessments[5:])


def test_a_change_of_message_mix_moves_nothing() -> None:
    job = Job()
    detector = learnt(job)
    job.cells = (Cell(size="4194304", transfer_seconds=0.004), Cell("AllGather", "262144", 0.0008))
    assert findings(steps(detector, job.ticks(60))) == []


def test_a_slower_fabric_names_no_rank() -> None:
    job = Job()
    detector = learnt(job)
    job.transfer_ratio = 2.0
    found = findings(steps(detector, job.ticks(60)))
    assert {(finding.culprit.verdict, finding.culprit.ranks) for finding in found} == {(Verdict.SLOW_FABRIC, ())}


def test_one_spike_names_nobody() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.020
    assert findings(steps(detector, job.ticks(1))) == []
    job.delay_seconds[3] = 0.0
    assert findings(steps(detector, job.ticks(20))) == []


def test_an_effect_below_the_floor_names_nobody() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.00005  # half a percent of a step
    assert findings(steps(detector, job.ticks(100))) == []


def test_a_second_occurrence_fires_as_the_first_did() -> None:
    job = Job()
    detector = learnt(job)
    delays = []
    for _ in range(2):
        job.delay_seconds[3] = 0.001
        assessments = steps(detector, job.ticks(10))
        delays.append(next(n for n, assessment in enumerate(assessments) if assessment.findings))
        job.delay_seconds[3] = 0.0
        assert not steps(detector, job.ticks(10))[-1].findings
    assert delays[0] == delays[1]


def test_a_restart_under_another_id_keeps_the_baseline() -> None:
    job = Job()
    detector = learnt(job)
    job.restart("00000000000000bb")
    assert findings(steps(detector, job.ticks(5))) == []
    job.delay_seconds[3] = 0.001
    named = findings(steps(detector, job.ticks(4)))
    assert {finding.culprit.ranks for finding in named} == {(3,)}
    assert named[0].evidence["test"].startswith("own history")


def test_missing_series_hold_an_open_finding() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    key = findings(steps(detector, job.ticks(6)))[-1].culprit.key
    job.silent = set(range(8))
    assert all(key in assessment.held for assessment in steps(detector, job.ticks(20)))
    job.silent = set()
    later = steps(detector, job.ticks(3))
    assert later[-1].findings[0].culprit.key == key


def test_series_that_stay_away_are_a_job_that_ended() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    steps(detector, job.ticks(6))
    job.silent = set(range(8))
    assert steps(detector, (with_exporter(each) for each in job.ticks(40)))[-1].held == frozenset()


def test_a_store_in_which_there_is_nothing_any_more_tells_of_no_end() -> None:
    """Who falls silent together with all exporters is not known to have ended."""
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    (key,) = {finding.culprit.key for finding in steps(detector, job.ticks(6))[-1].findings}
    job.silent = set(range(8))
    nothing = steps(detector, job.ticks(40))
    assert all(not each.judged and key in each.held for each in nothing)
    job.silent = set()
    assert key in {finding.culprit.key for each in steps(detector, job.ticks(6)) for finding in each.findings}


def with_exporter(snapshot: Snapshot) -> Snapshot:
    """One that answers."""
    code = snapshot.vocabulary.code("node0:9847")
    return replace(snapshot, exporters=ExporterTable(np.array([code], dtype=np.int32), np.array([snapshot.time])))


def test_a_partial_answer_is_an_abstention_that_holds() -> None:
    job = Job()
    detector = learnt(job)
    job.delay_seconds[3] = 0.001
    key = findings(steps(detector, job.ticks(6)))[-1].culprit.key
    job.warnings = ("some store is down",)
    job.delay_seconds[3] = 0.0
    assessment = steps(detector, job.ticks(1))[0]
    assert assessment.held == {key}
    assert assessment.findings == ()
    assert set(assessment.states.values()) == {"abstain"}


def test_a_pause_is_a_state() -> None:
    job = Job()
    detector = learnt(job)
    job.paused = True
    assessments = steps(detector, job.ticks(40))
    assert findings(assessments) == []
    assert assessments[-1].states == {job.comm: "paused"}


def test_a_counter_reset_names_nobody() -> None:
    job = Job()
    detector = learnt(job)
    job.reset_counters(4)
    assert findings(steps(detector, job.ticks(20))) == []


def test_too_few_known_ranks_abstain() -> None:
    job = Job()
    detector = learnt(job)
    job.silent = {0, 1, 2, 3, 4}
    assert steps(detector, job.ticks(3))[-1].states == {job.comm: "abstain"}


def test_states_tell_what_is_known() -> None:
    job = Job(cells=(Cell(),))
    seen = [assessment.states.get(job.comm) for assessment in steps(Detector(SETTINGS), job.ticks(12))]
    assert seen[0] == "warming"
    assert "learning" in seen
    assert seen[-1] == "watching"


@pytest.mark.parametrize("stuck", [0, 2, 7])
def test_a_stall_names_the_rank_with_nothing_in_flight(stuck: int) -> None:
    job = Job()
    detector = learnt(job)
    job.stuck = stuck
    assessments = steps(detector, job.ticks(8))
    named = findings(assessments)
    assert {finding.culprit.verdict for finding in named} == {Verdict.STALLED}
    assert {finding.culprit.ranks for finding in named} == {(stuck,)}
    assert named[-1].cost_ratio == 1.0
    assert named[-1].victims == 7
    assert assessments[-1].states == {job.comm: "stalled"}
    # Not before the time that the configuration gives it.
    assert assessments[3].findings == ()
    started = {finding.started_at for finding in named}
    assert len(started) == 1
    job.release()
    after = steps(detector, job.ticks(3))
    assert findings(after) == []
    assert all(named[-1].culprit.key not in assessment.held for assessment in after)


def test_a_stall_whose_series_vanish_is_held() -> None:
    job = Job()
    detector = learnt(job)
    job.stuck = 2
    key = findings(steps(detector, job.ticks(8)))[-1].culprit.key
    job.silent = set(range(8))
    assert all(key in assessment.held for assessment in steps(detector, job.ticks(10)))


def test_a_rank_about_which_nothing_is_known_is_not_accused_of_a_stall() -> None:
    job = Job()
    detector = learnt(job)
    job.stuck = 2
    job.silent = {2}
    named = findings(steps(detector, job.ticks(8)))
    assert {finding.culprit.ranks for finding in named} == {()}
    assert named[-1].evidence["ranks_without_data"] == 1


def test_verdicts_can_be_switched_off() -> None:
    settings = DetectionSettings.model_validate(
        {**SETTINGS.model_dump(), "late_rank": {"enabled": False}, "stalled": {"enabled": False}}
    )
    job = Job()
    detector = learnt(job, settings=settings)
    job.delay_seconds[3] = 0.001
    steps(detector, job.ticks(5))
    job.stuck = 2
    assert findings(steps(detector, job.ticks(20))) == []


def test_time_has_to_advance() -> None:
    job = Job()
    detector = Detector(SETTINGS)
    snapshot = next(job.ticks(1))
    detector.step(snapshot)
    with pytest.raises(ValueError, match="advance in time"):
        detector.step(snapshot)


def test_a_rank_late_from_the_start_is_not_learnt_as_normal() -> None:
    job = Job()
    job.delay_seconds[3] = 0.002
    assessments = steps(Detector(SETTINGS), job.ticks(60))
    assert {finding.culprit.ranks for finding in findings(assessments)} == {(3,)}
    assert assessments[-1].findings


def test_a_missing_rank_does_not_cost_the_others_their_baseline() -> None:
    job = Job()
    detector = learnt(job)
    job.silent = {7}
    job.delay_seconds[3] = 0.001
    named = findings(steps(detector, job.ticks(6)))
    assert {finding.culprit.ranks for finding in named} == {(3,)}
    assert named[0].evidence["test"].startswith("own history")


@pytest.mark.parametrize("nranks", [2, 3, 4, 8])
def test_a_missing_peer_does_not_end_a_finding(nranks: int) -> None:
    job = Job(nranks=nranks)
    detector = learnt(job)
    job.delay_seconds[nranks - 1] = 0.001
    key = findings(steps(detector, job.ticks(8)))[-1].culprit.key
    job.silent = {0}
    for assessment in steps(detector, job.ticks(30)):
        assert key in assessment.held | {finding.culprit.key for finding in assessment.findings}


def test_absurd_sums_cost_their_tick_and_nothing_after() -> None:
    job = Job()
    detector = learnt(job)
    snapshot = next(job.ticks(1))
    snapshot.cells.log_microseconds[snapshot.cells.rank == 1] = 1e300
    assert detector.step(snapshot).findings == ()
    steps(detector, job.ticks(2))
    job.delay_seconds[1] = 0.001
    assert {finding.culprit.ranks for finding in findings(steps(detector, job.ticks(6)))} == {(1,)}


def test_an_absurd_age_is_no_stall() -> None:
    job = Job()
    detector = learnt(job)
    job.paused = True
    for snapshot in job.ticks(5):
        snapshot.in_flight.oldest_seconds[3] = 1e12
        assert detector.step(snapshot).findings == ()


def test_a_rank_whose_count_is_missing_is_not_behind() -> None:
    job = Job()
    detector = learnt(job)
    job.stuck = 2
    seen = []
    for snapshot in job.ticks(8):
        # Everybody waits in flight, rank 2 launched one operation fewer, and one of rank 5's counters is missing.
        snapshot.in_flight.oldest_seconds[2] = snapshot.in_flight.oldest_seconds[3]
        gather = job.vocabulary.code("AllGather")
        snapshot.started.started[(snapshot.started.rank == 5) & (snapshot.started.op == gather)] = float("nan")
        seen.append(detector.step(snapshot))
    assert {finding.culprit.ranks for finding in findings(seen)} == {(2,)}


@pytest.mark.parametrize("silent", [{2}, {0, 1, 3, 4, 5, 6, 7}, {2, 5}])
def test_a_stall_keeps_its_name_when_a_node_falls_silent(silent: set[int]) -> None:
    job = Job()
    detector = learnt(job)
    job.stuck = 2
    key = findings(steps(detector, job.ticks(8)))[-1].culprit.key
    for heard in (silent, set()):
        job.silent = heard
        for assessment in steps(detector, job.ticks(6)):
            assert {key} == assessment.held | {finding.culprit.key for finding in assessment.findings}
    job.release()
    last = steps(detector, job.ticks(3))[-1]
    assert last.findings == ()
    assert last.held == frozenset()
