"""What an alert says, from evidence as the detectors make it."""

import re
from dataclasses import replace

import pytest
from servers.incidents import incident as past
from simulator.cluster import Cluster
from simulator.faults import Event, LateRank, RankGone, SlowFabric, SlowGpu, SlowLink, Stall, StarvedHost
from simulator.layout import Layout
from simulator.presets import fsdp, hybrid, pipeline

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.context import ContextNote, Effect
from sentinel.model.incident import Incident, Verdict
from sentinel.model.snapshot import NetworkTable
from sentinel.sink.alert import summarize
from sentinel.sink.description import describe

BEGIN = 1500.0


def found(layout: Layout, *events: Event, ticks: int = 60) -> list[Incident]:
    cluster = Cluster(layout, seed=3).add(*events)
    detector, tracker = Detector(DetectionSettings()), IncidentTracker(DetectionSettings())
    opened: list[Incident] = []
    for snapshot in cluster.snapshots(ticks):
        opened += tracker.step(detector.step(snapshot)).opened
    return opened


@pytest.mark.parametrize(
    ("event", "summary", "sentence"),
    [
        (
            LateRank(rank=13, cost_ratio=0.1, begin=BEGIN),
            "Rank 13 (on node00001 GPU 5) arrives late",
            r"Its AllGather of 64 MiB takes \S+ ms and its peers' \S+ ms: it arrives \S+ ms after them, normally ",
        ),
        (
            SlowLink(rank=13, cost_ratio=0.2, begin=BEGIN),
            "Rank 13 (on node00001 GPU 5) sends or receives slowly",
            r"A network step to rank \d+ on node\d+ is on the wire for \S+ [mu]s, its peers' for \S+ [mu]s\.",
        ),
        (
            StarvedHost(rank=13, cost_ratio=0.2, begin=BEGIN),
            "Rank 13 (on node00001 GPU 5) sends or receives slowly",
            r"Its host takes \S+ [mu]s a step to take in what rank \d+ on node\d+ sent, its peers' \S+ [mu]s\.",
        ),
        (
            SlowFabric(cost_ratio=0.2, begin=BEGIN),
            "The network is slow for communicator",
            r"Its \w+ of 64 MiB takes \S+ ms with nobody late, normally \S+ ms\.",
        ),
        (
            Stall(rank=13, begin=BEGIN),
            "Rank 13 (on node00001 GPU 5) has stalled",
            r"Nothing in flight .*, for [\d.]+ s\.",
        ),
        (
            RankGone(rank=13, begin=BEGIN),
            "Rank 13 (on node00001 GPU 5) is gone while its peers wait",
            r"Its series are gone, its exporter answers and its peers wait, for [\d.]+ \w+\.",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Event) else "",
)
def test_each_verdict_in_words(event: Event, summary: str, sentence: str) -> None:
    (incident,) = found(fsdp(16), event)
    assert summarize(incident).startswith(summary)
    assert re.search(sentence, describe(incident)), describe(incident)


def test_the_place_where_slow_communicators_meet_in_words() -> None:
    cluster = Cluster(hybrid(64), seed=3).add(SlowLink(node=2, cost_ratio=0.1, begin=BEGIN))
    detector, tracker = Detector(DetectionSettings()), IncidentTracker(DetectionSettings())
    opened: list[Incident] = []
    for snapshot in cluster.snapshots(60):
        unseen = replace(snapshot, network=NetworkTable.empty())
        opened += tracker.step(detector.step(unseen)).opened
    (incident,) = opened
    assert summarize(incident).startswith("Ranks 16, 17, 18, 19, 20, 21, 22, 23 (on node00002) send or receive slowly")
    words = r"All 9 slow communicators of the job meet at this node, and none of 11 healthy ones\. Its \w+ of "
    assert re.search(words, describe(incident)), describe(incident)


def test_victims_are_told() -> None:
    (incident,) = found(pipeline(4, 8), SlowGpu(rank=10, cost_ratio=0.1, begin=BEGIN))
    assert incident.culprit.verdict is Verdict.LATE_RANK
    assert "Late because of it: rank " in describe(incident)


def test_a_drift_in_words() -> None:
    drift, *_ = found(fsdp(16), SlowGpu(rank=5, cost_ratio=0.05, begin=3600.0, ramp_seconds=21600.0), ticks=600)
    assert drift.culprit.verdict is Verdict.DRIFT
    assert re.search(r"Waiting for it takes [\d.]+% more of the job's time than the \S+% before", describe(drift))


def test_several_ranks_are_said_in_the_plural() -> None:
    (incident,) = found(fsdp(16), Stall(rank=2, begin=BEGIN), Stall(rank=3, begin=BEGIN))
    assert summarize(incident).startswith("Ranks 2, 3 (on node00000 GPU 2,3) have stalled")


def test_alerts_of_others_are_told() -> None:
    began = past().started_at
    notes = [
        ContextNote(Effect.NOTE, {"alertname": f"Node{number}\x1b" + "x" * 99}, began, began + 60.0 if number else None)
        for number in range(5)
    ]
    text = describe(past(context=tuple(notes)))
    assert f"Known there: Node0 {'x' * 54} fires since 2026-11-29T19:36:00.500Z; Node1 " in text
    assert " fired from 2026-11-29T19:36:00.500Z to 2026-11-29T19:37:00.500Z; and 2 more. " in text
    assert "Known there" not in describe(past())
