"""A fault that comes and goes is one incident."""

from dataclasses import replace

from sentinel.config.detection import DetectionSettings
from sentinel.incident.tracker import Changes, IncidentTracker
from sentinel.model.incident import Assessment, Culprit, CulpritKey, Finding, Incident, Verdict

SETTINGS = DetectionSettings()
CULPRIT = Culprit(Verdict.LATE_RANK, "job", "job", "aa", "", (3,), "node1", "0")
TICK = 30.0
CLEAR = SETTINGS.late_rank.clear_ticks


def step(tracker: IncidentTracker, time: float, late: bool, held: frozenset[CulpritKey] = frozenset()) -> Changes:
    findings = (Finding(CULPRIT, 0.02, time - TICK, 7, {}),) if late else ()
    return tracker.step(Assessment(time, findings, held, {"aa": "watching"}))


def run(tracker: IncidentTracker, pattern: str, start: float = 1000.0) -> dict[str, list[int]]:
    """`x` is a tick with evidence, `.` one without; the ticks at which something happened, from 0."""
    found: dict[str, list[int]] = {"opened": [], "reopened": [], "ended": []}
    for tick, letter in enumerate(pattern):
        changes = step(tracker, start + tick * TICK, letter == "x")
        for name, ticks in found.items():
            ticks += [tick] * len(getattr(changes, name))
    return found


def ended(pattern: str = "xx...") -> Incident:
    """One that has just ended; at 1060."""
    tracker = IncidentTracker(SETTINGS)
    changes = [step(tracker, 1000.0 + tick * TICK, letter == "x") for tick, letter in enumerate(pattern)]
    (one,) = changes[-1].ended
    return one


def test_bursts_are_one_incident_whose_end_is_told_twice() -> None:
    found = run(IncidentTracker(SETTINGS), "xx....xx......xx......xx" + "." * 30)
    assert found == {"opened": [0], "reopened": [6], "ended": [4, 24 + 19]}  # ten minutes are twenty ticks


def test_what_does_not_come_back_ends_as_soon_as_ever() -> None:
    assert run(IncidentTracker(SETTINGS), "xx....") == {"opened": [0], "reopened": [], "ended": [1 + CLEAR]}


def test_it_goes_on_under_its_id_and_start_and_its_end_is_when_it_was_last_over() -> None:
    first = ended()
    tracker = IncidentTracker(SETTINGS, [first])
    (back,) = step(tracker, 1300.0, late=True).reopened
    assert back == replace(first, ended_at=None, recurrences=1)
    changes = [step(tracker, 1330.0 + tick * TICK, late=False) for tick in range(25)]
    (over,) = (one for each in changes for one in each.ended)
    assert (over.id, over.started_at, over.ended_at, over.recurrences) == (first.id, first.started_at, 1330.0, 1)


def test_later_than_reopen_within_it_is_another_one() -> None:
    first = ended()
    assert first.ended_at is not None
    within = SETTINGS.reopen_within.total_seconds()
    assert step(IncidentTracker(SETTINGS, [first]), first.ended_at + within, late=True).reopened
    changes = step(IncidentTracker(SETTINGS, [first]), first.ended_at + within + 1.0, late=True)
    assert changes.reopened == ()
    assert changes.opened[0].id != first.id


def test_without_reopen_within_each_burst_is_an_incident() -> None:
    settings = DetectionSettings.model_validate({"reopen_within": "0s"})
    assert run(IncidentTracker(settings), "xx...xx...") == {"opened": [0, 5], "reopened": [], "ended": [4, 9]}


def test_a_restart_in_the_middle_changes_nothing() -> None:
    pattern = "xx....xx......xx"
    whole = IncidentTracker(SETTINGS)
    run(whole, pattern)
    for cut in range(1, len(pattern)):
        tracker, known = IncidentTracker(SETTINGS), dict[str, Incident]()
        for tick, letter in enumerate(pattern):
            if tick == cut:
                tracker = IncidentTracker(SETTINGS, known.values())
            changes = step(tracker, 1000.0 + tick * TICK, letter == "x")
            known |= {one.id: one for one in (*changes.opened, *changes.ongoing, *changes.ended)}
        (one,) = known.values()
        assert one == next(iter(whole._open.values()))


def test_time_in_which_nothing_is_known_is_not_time_without_evidence() -> None:
    tracker = IncidentTracker(SETTINGS, [ended()])
    step(tracker, 1300.0, late=True)
    time, held, seen = 1300.0, frozenset({CULPRIT.key}), 0
    while not (changes := step(tracker, time := time + TICK, late=False, held=held if seen % 2 else frozenset())).ended:
        seen += 1
    assert time - 1300.0 == 2 * SETTINGS.reopen_within.total_seconds() - TICK
    assert changes.ended[0].ended_at == 1330.0


def test_somebody_else_does_not_go_on_with_it() -> None:
    tracker = IncidentTracker(SETTINGS, [ended()])
    other = Finding(replace(CULPRIT, ranks=(4,)), 0.02, 1250.0, 7, {})
    changes = tracker.step(Assessment(1300.0, (other,), frozenset(), {"aa": "watching"}))
    assert (len(changes.opened), changes.reopened) == (1, ())
