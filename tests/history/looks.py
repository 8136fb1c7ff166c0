"""Ticks of a simulated job, as the daemon hands them over."""

from collections.abc import Iterator

from cluster.job import Job

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.history.look import Look

TICK = 30.0
START = 1_700_000_100.0  # a multiple of a tick and of a bin


def job(nranks: int = 8, **more: object) -> Job:
    return Job(nranks=nranks, tick_seconds=TICK, start=START, step_seconds=0.1, **more)


class Watcher:
    """A detector, and what it says of each of the job's ticks."""

    def __init__(self) -> None:
        self.detector = Detector(DetectionSettings())

    def looks(self, job: Job, count: int) -> Iterator[Look]:
        for snapshot in job.ticks(count):
            assessment = self.detector.step(snapshot)
            yield Look(snapshot, assessment, self.detector.lateness, ())
