"""How long a job without faults runs until something is said about it."""

from dataclasses import dataclass

from scene import LAYOUTS, LEARNT_TICKS, NOISES, TICK_SECONDS
from simulator.cluster import Cluster

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker


@dataclass(frozen=True)
class Clean:
    """Clean time of one noise: days watched, and the verdicts of the incidents that it raised."""

    noise: str
    ranks: int
    days: float
    verdicts: tuple[str, ...]

    @property
    def per_month(self) -> float:
        """False incidents in 30 days."""
        return 30.0 * len(self.verdicts) / self.days


def watch(
    noise: str,
    ranks: int,
    days: float,
    seed: int,
    settings: DetectionSettings,
) -> Clean:
    """Watch a healthy job."""
    cluster = Cluster(LAYOUTS["fsdp"](ranks), NOISES[noise], seed, TICK_SECONDS)
    builder = BaselineBuilder(settings.baseline)
    for snapshot in cluster.snapshots(LEARNT_TICKS):
        builder.add(snapshot)
    detector, tracker = Detector(settings, builder.build()), IncidentTracker(settings)
    ticks = round(days * 86_400 / TICK_SECONDS)
    verdicts: list[str] = []
    for snapshot in cluster.snapshots(ticks):
        verdicts += [incident.culprit.verdict.value for incident in tracker.step(detector.step(snapshot)).opened]
    return Clean(noise, ranks, days, tuple(verdicts))
