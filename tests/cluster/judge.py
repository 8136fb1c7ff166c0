"""A detector that has learnt a simulated job, and what it says of it from then on."""

from collections.abc import Iterable

from cluster.job import Job

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.incident import Assessment, Finding
from sentinel.model.snapshot import Snapshot

SETTINGS = DetectionSettings.model_validate(
    {"baseline": {"warm_up": "4s"}, "stalled": {"stall_after": "10s"}, "gone_after": "60s"}
)


def learnt(job: Job, ticks: int = 30, settings: DetectionSettings = SETTINGS) -> Detector:
    """A detector with a baseline from `ticks` healthy ticks."""
    builder = BaselineBuilder(settings.baseline)
    last = None
    for snapshot in job.ticks(ticks):
        builder.add(snapshot)
        last = snapshot
    detector = Detector(settings, builder.build())
    assert last is not None
    detector.step(last)
    return detector


def steps(detector: Detector, snapshots: Iterable[Snapshot]) -> list[Assessment]:
    return [detector.step(snapshot) for snapshot in snapshots]


def findings(assessments: Iterable[Assessment]) -> list[Finding]:
    return [finding for assessment in assessments for finding in assessment.findings]
