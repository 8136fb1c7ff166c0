"""One incident for a dead rank and the stall behind it."""

from dataclasses import replace

from cluster.job import Job

from sentinel.config.detection import DetectionSettings
from sentinel.config.detection_rank_missing import RankMissingSettings
from sentinel.detect.missing_stall import StallMerge
from sentinel.detect.rank_missing import MissingReading, RankMissingTest
from sentinel.detect.stalled import find_stalls, stalled_communicators
from sentinel.measure.membership import MembershipReader
from sentinel.measure.window import Differencer
from sentinel.model.incident import Culprit, CulpritKey, Finding, Verdict

STALL = Finding(
    Culprit(Verdict.STALLED, "job", "job", "aa", "", (), "", ""),
    1.0,
    100.0,
    7,
    {"stalled_seconds": 40.0, "waiting_ranks": [0, 1], "reason": "nobody stands out"},
)
LOST = Finding(Culprit(Verdict.RANK_MISSING, "job", "job", "aa", "", (5,), "n1", "1"), 1.0, 99.0, 3, {"reason": "gone"})
STANDING = {STALL.culprit.key, LOST.culprit.key}


def named(*ranks: int) -> Finding:
    return replace(STALL, culprit=replace(STALL.culprit, ranks=ranks, node="n1"))


def lost(*findings: Finding, pending: tuple[str, ...] = ()) -> MissingReading:
    return MissingReading(findings, frozenset(), frozenset(pending))


def test_a_stall_becomes_evidence_of_the_rank_that_is_missing() -> None:
    kept, (found,) = StallMerge().step([STALL], lost(LOST), STANDING)
    assert kept == []
    assert found.culprit == LOST.culprit
    assert found.evidence == {"reason": "gone", "stalled_seconds": 40.0, "waiting_ranks": [0, 1]}
    assert found.victims == 7


def test_a_stall_waits_for_the_decision_whether_a_rank_is_missing() -> None:
    merge = StallMerge()
    assert merge.step([STALL], lost(pending=("job",)), STANDING) == ([], [])
    assert merge.step([STALL], lost(pending=("other",)), STANDING) == ([STALL], [])
    # Now it is told, and so it stays.
    assert merge.step([STALL], lost(pending=("job",)), STANDING) == ([STALL], [])


def test_a_stall_that_has_named_the_rank_already_goes_on_and_says_that_it_died() -> None:
    merge, stall = StallMerge(), named(5)
    standing = STANDING | {stall.culprit.key}
    assert merge.step([stall], lost(), standing) == ([stall], [])
    for _ in range(2):
        (kept,), found = merge.step([stall], lost(LOST), standing)
        assert (kept.culprit, kept.evidence["missing_ranks_named"], found) == (stall.culprit, [5], [])
    # The stall is over for another reason, and the rank is still missing.
    assert merge.step([], lost(LOST), standing) == ([], [LOST])


def test_a_stall_that_named_nobody_gives_way() -> None:
    merge = StallMerge()
    merge.step([STALL], lost(), STANDING)
    kept, (found,) = merge.step([STALL], lost(LOST), STANDING)
    assert (kept, found.culprit) == ([], LOST.culprit)


def test_a_stall_that_names_another_than_the_dead_is_told_only_if_it_was_before() -> None:
    stall = named(2)
    standing: set[CulpritKey] = STANDING | {stall.culprit.key}
    assert StallMerge().step([stall], lost(LOST), standing)[0] == []
    merge = StallMerge()
    merge.step([stall], lost(), standing)
    kept, found = merge.step([stall], lost(LOST), standing)
    assert (kept[0].culprit, found) == (stall.culprit, [LOST])


def test_another_job_s_stall_is_another_matter() -> None:
    other = replace(STALL, culprit=replace(STALL.culprit, job="other", job_id="other"))
    assert StallMerge().step([other], lost(LOST), STANDING) == ([other], [LOST])


def test_what_is_over_was_never_told() -> None:
    merge = StallMerge()
    merge.step([STALL], lost(), STANDING)
    merge.step([], lost(), set())
    assert merge.step([STALL], lost(pending=("job",)), STANDING) == ([], [])


def test_a_rank_that_dies_is_one_finding_from_first_to_last() -> None:
    job = Job(tick_seconds=15.0)
    members, differencer = MembershipReader(), Differencer()
    test, merge = RankMissingTest(RankMissingSettings()), StallMerge()
    told: list[Finding] = []
    for tick, snapshot in enumerate(job.ticks(40)):
        if tick == 10:
            job.stuck, job.silent = 5, {5}
        membership, window = members.read(snapshot), differencer.step(snapshot)
        if window is None:
            continue
        stalls = find_stalls(stalled_communicators(window, snapshot, DetectionSettings().stalled), membership, snapshot)
        reading = test.step(window, snapshot, membership)
        kept, found = merge.step(stalls, reading, {each.culprit.key for each in (*stalls, *reading.findings)})
        told += [*kept, *found]
    assert {finding.culprit.key for finding in told} == {told[0].culprit.key}
    assert told[0].culprit.verdict is Verdict.RANK_MISSING
    assert "stalled_seconds" in told[-1].evidence
