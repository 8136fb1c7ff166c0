"""Alerts of others: which are meant, where they are, and what becomes of them over time."""

import numpy as np
import pytest
from cluster.job import Job

from sentinel.config.context import ContextMatch, ContextSettings
from sentinel.incident.context_reader import ContextReader, place_of
from sentinel.incident.surroundings import Surroundings
from sentinel.model.context import ContextAlert, Effect
from sentinel.model.place import Freeze, Place
from sentinel.model.snapshot import Snapshot

START = 1_700_000_010.0
TICK = 30.0


@pytest.fixture(scope="module")
def snapshots() -> list[Snapshot]:
    return list(Job(nranks=16, tick_seconds=TICK, start=START, job_id="4711").ticks(60))


def settings(*matches: dict[str, object], within: str = "10m") -> ContextSettings:
    return ContextSettings.model_validate({"match": matches, "within": within})


def alert(starts_at: float = START, **labels: str) -> ContextAlert:
    return ContextAlert({"alertname": "NodeDown", **labels}, starts_at, max(starts_at, START))


def read(reader: ContextReader, snapshot: Snapshot, *alerts: ContextAlert) -> Surroundings:
    return reader.read(alerts, snapshot)


NODE_DOWN = {"matchers": ['alertname="NodeDown"'], "effect": "freeze"}


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        ({"node": "n1"}, Place("n1")),
        ({"instance": "n1:9100"}, Place("n1")),
        ({"instance": "[::1]:9100"}, Place("[::1]")),
        ({"instance": "n1:9100", "Hostname": "n2"}, Place("n2")),
        ({"node": "", "instance": "n1"}, Place("n1")),
        ({"node": "n1", "gpu": "3", "UUID": "GPU-1", "job_id": "7"}, Place("n1", "3", "GPU-1", "7")),
        ({"node": "x" * 257, "job_id": "7"}, Place()),  # too long to be read: not everywhere in the job
        ({"other": "n1"}, Place()),
    ],
)
def test_where_an_alert_is(labels: dict[str, str], place: Place) -> None:
    assert place_of(labels, ContextMatch(matchers=("a=b",))) == place


def test_what_of_a_label_is_the_name_can_be_said() -> None:
    match = ContextMatch(matchers=("a=b",), node=("instance",), node_pattern=r"([^.:]+)\..*")
    assert place_of({"instance": "n1.example.org:9100"}, match) == Place("n1")
    assert place_of({"instance": "n1:9100"}, match) == Place()  # it does not match


def test_the_first_match_holds_and_what_none_matches_does_nothing(snapshots: list[Snapshot]) -> None:
    reader = ContextReader(
        settings({"matchers": ['severity="info"']}, NODE_DOWN, {"matchers": ['alertname=~".*"'], "effect": "silence"})
    )
    found = read(
        reader,
        snapshots[0],
        alert(node="node0", severity="info"),
        alert(node="node1"),
        alert(node="node0", alertname="Other"),
        alert(alertname="Nowhere", gpu="3"),
    )
    assert [(each.note.name, each.note.effect) for each in found.alerts] == [
        ("NodeDown", Effect.NOTE),
        ("NodeDown", Effect.FREEZE),
        ("Other", Effect.SILENCE),
    ]
    assert reader.counts() == {"none": 1, "note": 1, "freeze": 1, "silence": 1}


def test_communicators_with_a_member_there_are_frozen(snapshots: list[Snapshot]) -> None:
    snapshot = snapshots[0]
    reader = ContextReader(settings(NODE_DOWN))
    here = snapshot.communicators.comm[snapshot.communicators.node == snapshot.vocabulary.find("node1")]
    found = read(reader, snapshot, alert(node="node1"))
    assert found.frozen == set(np.unique(here).tolist()) != set()
    assert found.freezes == (Freeze(Place("node1"), START, snapshot.time),)
    assert read(reader, snapshots[1], alert(node="elsewhere")).frozen == frozenset()
    assert read(reader, snapshots[2], alert(job_id="4711")).frozen == set(snapshot.communicators.comm.tolist())


def test_a_note_freezes_nothing(snapshots: list[Snapshot]) -> None:
    found = read(ContextReader(settings({**NODE_DOWN, "effect": "note"})), snapshots[0], alert(node="node1"))
    assert (found.frozen, found.freezes) == (frozenset(), ())
    assert len(found.alerts) == 1


def test_it_ends_when_it_is_not_told_any_more_and_is_remembered_for_a_while(snapshots: list[Snapshot]) -> None:
    reader = ContextReader(settings(NODE_DOWN, within="2m"))
    lasted = alert(starts_at=START - 5.0, node="node1")
    read(reader, snapshots[0], lasted)
    ended = [read(reader, snapshot) for snapshot in snapshots[1:8]]
    (first,) = ended[0].alerts
    assert (first.note.started_at, first.note.ended_at) == (START - 5.0, snapshots[1].time)
    assert [len(each.alerts) for each in ended] == [1, 1, 1, 1, 1, 0, 0]
    assert all(each.frozen == frozenset() for each in ended)


def test_one_that_fires_again_is_not_over(snapshots: list[Snapshot]) -> None:
    reader = ContextReader(settings(NODE_DOWN))
    read(reader, snapshots[0], alert(node="node1"))
    read(reader, snapshots[1])
    (again,) = read(reader, snapshots[2], alert(starts_at=snapshots[2].time - 1.0, node="node1")).alerts
    assert again.note.ended_at is None


def test_it_does_not_hold_for_an_instant_before_it_began(snapshots: list[Snapshot]) -> None:
    reader = ContextReader(settings(NODE_DOWN))
    late = ContextAlert({"alertname": "NodeDown", "node": "node1"}, snapshots[5].time, snapshots[5].time + 1.0)
    found = [bool(read(reader, snapshot, late).frozen) for snapshot in snapshots[3:8]]
    assert found == [False, False, True, True, True]


def test_a_sender_whose_clock_is_ahead_is_taken_from_when_it_was_heard(snapshots: list[Snapshot]) -> None:
    ahead = ContextAlert({"alertname": "NodeDown", "node": "node1"}, snapshots[50].time, snapshots[2].time - 1.0)
    (one,) = read(ContextReader(settings(NODE_DOWN)), snapshots[2], ahead).alerts
    assert one.note.started_at == snapshots[2].time - 1.0


def test_without_a_match_nothing_is_looked_at(snapshots: list[Snapshot]) -> None:
    assert read(ContextReader(ContextSettings()), snapshots[0], alert(node="node1")) == Surroundings()
