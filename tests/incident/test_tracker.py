"""The life of incidents."""

from dataclasses import replace

from sentinel.config.detection import DetectionSettings
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Assessment, Culprit, CulpritKey, Finding, Incident, Verdict

SETTINGS = DetectionSettings()
CULPRIT = Culprit(Verdict.LATE_RANK, "job", "job", "aa", "", (3,), "node1", "0")
FINDING = Finding(CULPRIT, 0.10, 100.0, 7, {"lateness_seconds": 0.001})


def assessment(time: float, *findings: Finding, held: frozenset[CulpritKey] = frozenset()) -> Assessment:
    return Assessment(time, findings, held, {"aa": "watching"})


def test_opens_goes_on_and_ends_after_enough_clear_ticks() -> None:
    tracker = IncidentTracker(SETTINGS)
    opened = tracker.step(assessment(110.0, FINDING)).opened[0]
    assert (opened.started_at, opened.detected_at, opened.ended_at) == (100.0, 110.0, None)
    later = tracker.step(assessment(112.0, replace(FINDING, cost_ratio=0.2, started_at=90.0)))
    assert later.opened == later.ended == ()
    assert later.ongoing[0] == replace(opened, cost_ratio=0.2)
    assert len(tracker.step(assessment(114.0)).ongoing) == 1
    assert len(tracker.step(assessment(116.0)).ongoing) == 1
    ended = tracker.step(assessment(118.0)).ended[0]
    assert (ended.id, ended.started_at, ended.ended_at) == (opened.id, 100.0, 114.0)
    assert tracker.step(assessment(120.0)) == type(later)()


def test_what_is_held_neither_ends_nor_counts() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    for time in range(112, 200, 2):
        changes = tracker.step(assessment(float(time), held=frozenset({CULPRIT.key})))
        assert len(changes.ongoing) == 1
        assert changes.ended == ()


HELD = frozenset({CULPRIT.key})


def test_clear_ticks_before_a_long_silence_count_no_more() -> None:
    """Nothing was seen to end, and least of all two hours ago."""
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    for time in (112.0, 114.0):
        tracker.step(assessment(time))
    for time in range(116, 7200, 2):
        tracker.step(assessment(float(time), held=HELD))
    assert [tracker.step(assessment(time)).ended for time in (7200.0, 7202.0)] == [(), ()]
    assert tracker.step(assessment(7204.0)).ended[0].ended_at == 7200.0


def test_single_ticks_that_are_held_keep_no_incident_for_ever() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    changes = [tracker.step(assessment(112.0 + 2 * n, held=HELD if n % 2 else frozenset())) for n in range(5)]
    assert [len(each.ended) for each in changes] == [0, 0, 0, 0, 1]


def test_who_takes_its_place_counts_on() -> None:
    """Else nothing would ever end under a configuration that is reloaded again and again."""
    tracker = IncidentTracker(SETTINGS)
    (incident,) = tracker.step(assessment(110.0, FINDING)).opened
    ended = []
    for time in (112.0, 114.0, 116.0):
        tracker = IncidentTracker(SETTINGS, [incident], tracker)
        ended += tracker.step(assessment(time)).ended
    assert [each.ended_at for each in ended] == [112.0]


def test_a_large_fault_is_large_since_before_the_tracker_was_another_one() -> None:
    large = replace(FINDING, cost_ratio=0.5, culprit=replace(CULPRIT, verdict=Verdict.SLOW_FABRIC, ranks=()))
    tracker = IncidentTracker(SETTINGS)
    tiers = []
    known: tuple[Incident, ...] = ()
    for time in range(110, 110 + 3600, 30):
        changes = tracker.step(assessment(float(time), large))
        known = (*changes.opened, *changes.ongoing)
        tiers.append(known[0].tier)
        tracker = IncidentTracker(SETTINGS, known, tracker)
    other = IncidentTracker(SETTINGS)
    assert tiers == [
        (*changes.opened, *changes.ongoing)[0].tier
        for changes in (other.step(assessment(float(time), large)) for time in range(110, 110 + 3600, 30))
    ]
    assert tiers[0] is not tiers[-1]


def test_evidence_in_between_starts_the_count_anew() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    for time in (112.0, 118.0, 124.0):
        tracker.step(assessment(time))
        tracker.step(assessment(time + 2))
        assert tracker.step(assessment(time + 4, FINDING)).ended == ()


def test_one_incident_whatever_communicator_it_is_seen_in() -> None:
    tracker = IncidentTracker(SETTINGS)
    opened = tracker.step(assessment(110.0, FINDING)).opened[0]
    elsewhere = replace(FINDING, culprit=replace(CULPRIT, comm="bb", comm_name="dp"))
    changes = tracker.step(assessment(112.0, elsewhere))
    assert changes.opened == ()
    assert changes.ongoing[0].culprit == opened.culprit


def test_a_second_occurrence_is_another_incident() -> None:
    tracker = IncidentTracker(SETTINGS)
    first = tracker.step(assessment(110.0, FINDING)).opened[0]
    for time in (112.0, 114.0, 116.0):
        tracker.step(assessment(time))
    late = 112.0 + SETTINGS.reopen_within.total_seconds() + 1.0
    second = tracker.step(assessment(late, replace(FINDING, started_at=late - 4))).opened[0]
    assert second.id != first.id


def test_the_same_data_give_the_same_id() -> None:
    ids = {IncidentTracker(SETTINGS).step(assessment(time, FINDING)).opened[0].id for time in (110.0, 112.0)}
    assert len(ids) == 1


def test_goes_on_with_what_was_open() -> None:
    opened = IncidentTracker(SETTINGS).step(assessment(110.0, FINDING)).opened[0]
    changes = IncidentTracker(SETTINGS, [opened]).step(assessment(200.0, replace(FINDING, started_at=190.0)))
    assert changes.opened == ()
    assert changes.ongoing[0].started_at == 100.0


def test_a_stall_ends_with_the_first_progress() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, replace(FINDING, culprit=replace(CULPRIT, verdict=Verdict.STALLED))))
    assert len(tracker.step(assessment(112.0)).ended) == 1


def test_nothing_ends_while_nothing_can_be_judged() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    for time in range(112, 2000, 2):
        assert tracker.step(Assessment(float(time), (), frozenset(), {"aa": "abstain"}, judged=False)).ended == ()


def test_a_communicator_that_is_not_there_holds_its_incident_for_a_while() -> None:
    opened = IncidentTracker(SETTINGS).step(assessment(110.0, FINDING)).opened[0]
    tracker = IncidentTracker(SETTINGS, [opened])  # after a restart, with nothing to see
    gone = SETTINGS.gone_after.total_seconds()
    ended = {
        time: tracker.step(Assessment(200.0 + time, (), frozenset(), {})).ended for time in range(0, 2 * int(gone), 30)
    }
    assert [time for time, incidents in ended.items() if incidents] == [int(gone) + 30 * SETTINGS.late_rank.clear_ticks]


def test_how_long_it_is_gone_counts_from_when_it_was_last_there() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    tracker.step(assessment(112.0))
    for time in range(114, 10_000, 30):
        tracker.step(assessment(float(time), FINDING))
    for time in range(10_000, 10_600, 30):
        assert tracker.step(Assessment(float(time), (), frozenset(), {})).ended == ()
