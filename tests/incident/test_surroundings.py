"""What an alert of others and a silence do to incidents."""

from dataclasses import replace

import pytest

from sentinel.config.detection import DetectionSettings
from sentinel.incident.surroundings import MAX_NOTES, PlacedAlert, Surroundings
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.incident import Assessment, Culprit, Finding, Incident, Verdict
from sentinel.model.place import Place

SETTINGS = DetectionSettings()
CULPRIT = Culprit(Verdict.LATE_RANK, "job", "4711", "aa", "", (3,), "node1", "3")
FINDING = Finding(CULPRIT, 0.10, 100.0, 7, {"gpu_uuid": "GPU-3"})
NODE, NOTHING = Place("node1"), Surroundings()
SILENCE = Silence("5e1f", "ops", "swap the fan", 9999.0)


def placed(
    place: Place = NODE,
    effect: Effect = Effect.NOTE,
    started_at: float = 50.0,
    ended_at: float | None = None,
    **labels: str,
) -> PlacedAlert:
    note = ContextNote(effect, {"alertname": "NodeDown", **labels}, started_at, ended_at)
    return PlacedAlert(note, place, frozenset({"aa"}))


def around(*alerts: PlacedAlert, within: float = 60.0, silences: dict[str, tuple[Silence, ...]] | None = None):
    return Surroundings(alerts, within, silences=silences)


def assessment(time: float, *findings: Finding) -> Assessment:
    return Assessment(time, findings, frozenset(), {"aa": "watching"})


def opened(finding: Finding = FINDING, *, known: Surroundings = NOTHING) -> Incident:
    (one,) = IncidentTracker(SETTINGS).step(assessment(110.0, finding), known).opened
    return one


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (Place("node1"), True),
        (Place("node2"), False),
        (Place("node1", gpu="3"), True),
        (Place("node1", gpu="4"), False),
        (Place("node1", gpu="4", gpu_uuid="GPU-3"), True),  # the UUID tells more than the number
        (Place(gpu_uuid="GPU-3"), True),
        (Place(gpu_uuid="GPU-4"), False),
        (Place(job_id="4711"), True),
        (Place(gpu="3", job_id="4711"), False),  # whose number?
        (Place("node1", job_id="4712"), False),
        (Place(gpu="3"), False),  # of any node
        (Place(), False),
    ],
)
def test_whom_a_place_names(place: Place, named: bool) -> None:
    assert place.names(CULPRIT, "GPU-3") == named
    known = around(placed(place, Effect.SILENCE))
    assert bool(IncidentTracker(SETTINGS).step(assessment(110.0, FINDING), known).opened) != named
    assert bool(opened(known=around(placed(place))).context) == named


def test_a_gpu_whose_uuid_is_not_known_is_told_by_its_number() -> None:
    assert Place("node1", gpu="3", gpu_uuid="GPU-3").names(CULPRIT, "")
    assert not Place("node1", gpu="4", gpu_uuid="GPU-3").names(CULPRIT, "")
    assert not Place(gpu_uuid="GPU-3").names(CULPRIT, "")


def test_what_names_no_rank_is_noted_by_its_communicator_and_not_silenced() -> None:
    nobody = replace(FINDING, culprit=replace(CULPRIT, verdict=Verdict.SLOW_FABRIC, ranks=(), node="", gpu=""))
    assert opened(nobody, known=around(placed(effect=Effect.SILENCE))).context
    elsewhere = replace(placed(effect=Effect.SILENCE), communicators=frozenset({"bb"}))
    assert not opened(nobody, known=around(elsewhere)).context
    assert (
        not IncidentTracker(SETTINGS)
        .step(assessment(110.0, nobody), around(placed(Place(job_id="4711"), Effect.SILENCE)))
        .opened
    )


def test_an_alert_about_a_gpu_is_noted_on_a_node_that_is_named_as_a_whole() -> None:
    whole = replace(FINDING, culprit=replace(CULPRIT, gpu=""), evidence={})
    gpu = Place("node1", gpu="3")
    assert opened(whole, known=around(placed(gpu, Effect.SILENCE))).context


@pytest.mark.parametrize(
    ("started_at", "ended_at", "noted"),
    [
        (50.0, None, True),  # before it
        (500.0, None, True),  # after it began
        (10.0, 40.0, True),  # ended a minute before it began
        (10.0, 39.0, False),
    ],
)
def test_how_near_in_time_an_alert_has_to_be(started_at: float, ended_at: float | None, noted: bool) -> None:
    assert bool(opened(known=around(placed(started_at=started_at, ended_at=ended_at))).context) == noted


def test_one_that_begins_soon_after_an_incident_ended_is_noted_on_it() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING))
    (over,) = [one for time in (140.0, 170.0, 200.0) for one in tracker.step(assessment(time)).ended]
    assert over.ended_at == 140.0
    assert tracker.step(assessment(210.0), around(placed(started_at=201.0))).noted == ()
    (noted,) = tracker.step(assessment(230.0), around(placed(started_at=200.0))).noted
    assert noted == replace(over, context=(placed(started_at=200.0).note,))
    assert tracker.step(assessment(260.0), around(placed(started_at=200.0))).noted == ()  # it is known already


def test_a_note_is_kept_up_and_is_one_however_often_it_fires() -> None:
    tracker = IncidentTracker(SETTINGS)
    tracker.step(assessment(110.0, FINDING), around(placed()))
    (one,) = tracker.step(assessment(140.0, FINDING), around(placed(ended_at=130.0))).ongoing
    assert [(note.started_at, note.ended_at) for note in one.context] == [(50.0, 130.0)]
    (one,) = tracker.step(assessment(170.0, FINDING), around(placed(started_at=160.0))).ongoing
    assert [(note.started_at, note.ended_at) for note in one.context] == [(50.0, None)]
    worse = replace(FINDING, cost_ratio=0.5)
    (one,) = tracker.step(assessment(200.0, worse), around()).ongoing
    assert (len(one.context), one.cost_ratio) == (1, 0.5)


def test_an_incident_keeps_so_many_notes_and_no_more() -> None:
    alerts = [placed(number=str(number)) for number in range(MAX_NOTES + 3)]
    assert [note.labels["number"] for note in opened(known=around(*alerts)).context] == [
        str(number) for number in range(MAX_NOTES)
    ]


def test_a_silenced_finding_opens_nothing_is_told_once_and_opens_when_the_silence_is_over() -> None:
    tracker, silent = IncidentTracker(SETTINGS), around(placed(effect=Effect.SILENCE))
    changes = [tracker.step(assessment(time, FINDING), silent) for time in (110.0, 140.0, 170.0)]
    assert [each.opened for each in changes] == [(), (), ()]
    assert [each.silenced for each in changes] == [(FINDING,), (), ()]
    over = around(placed(effect=Effect.SILENCE, ended_at=190.0))
    (one,) = tracker.step(assessment(200.0, FINDING), over).opened
    assert one.started_at == 100.0
    assert one.context[0].ended_at == 190.0


def test_freezing_silences_nothing() -> None:
    assert opened(known=around(placed(effect=Effect.FREEZE)))


def test_an_open_incident_is_held_while_its_place_is_silenced() -> None:
    tracker, silent = IncidentTracker(SETTINGS), around(placed(effect=Effect.SILENCE))
    first = tracker.step(assessment(110.0, FINDING)).opened[0]
    worse = replace(FINDING, cost_ratio=0.9)
    for time in range(140, 5000, 30):
        findings = (worse,) if time % 60 else ()
        changes = tracker.step(assessment(float(time), *findings), silent)
        assert (changes.ended, changes.raised, changes.silenced) == ((), (), ())
        (one,) = changes.ongoing
        assert replace(one, context=()) == first
    ended = [one for time in (5000.0, 5030.0, 5060.0) for one in tracker.step(assessment(time)).ended]
    assert [one.ended_at for one in ended] == [5000.0]


def test_clear_ticks_before_a_silence_count_no_more() -> None:
    tracker, silent = IncidentTracker(SETTINGS), around(placed(effect=Effect.SILENCE))
    tracker.step(assessment(110.0, FINDING))
    for time in (140.0, 170.0):
        tracker.step(assessment(time))
    tracker.step(assessment(200.0, FINDING), silent)
    assert [tracker.step(assessment(time)).ended for time in (230.0, 260.0)] == [(), ()]
    assert tracker.step(assessment(290.0)).ended[0].ended_at == 230.0


def test_silences_of_our_own_alerts_are_shown_until_they_are_gone() -> None:
    tracker = IncidentTracker(SETTINGS)
    first = tracker.step(assessment(110.0, FINDING)).opened[0]
    known = around(silences={first.id: (SILENCE,), "other": (SILENCE,)})
    (one,) = tracker.step(assessment(140.0, FINDING), known).ongoing
    assert one.silenced_by == (SILENCE,)
    (one,) = tracker.step(assessment(170.0, FINDING), around()).ongoing  # nobody could be asked
    assert one.silenced_by == (SILENCE,)
    (one,) = tracker.step(assessment(200.0, FINDING), around(silences={})).ongoing
    assert one.silenced_by == ()
