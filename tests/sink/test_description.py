"""What an alert says, from evidence as the detectors make it."""

import re

import pytest
from simulator.cluster import Cluster
from simulator.faults import Event, LateRank, RankGone, SlowFabric, SlowGpu, SlowLink, Stall, StarvedHost
from simulator.layout import Layout
from simulator.presets import fsdp, pipeline

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident, Verdict
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
