"""A simulated job that the whole detector watches, and what becomes of its incidents."""

from simulator.cluster import Cluster

from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident

Name = tuple[str, tuple[int, ...]]
"""A verdict and the global ranks that it names."""


def name_of(incident: Incident) -> Name:
    return incident.culprit.verdict.value, incident.culprit.ranks


class Watched:
    """Detector and tracker from the cluster's next tick on.

    It has no stored baseline, and learns on the way. `opened` and `ended` are all incidents so far, `current` those
    that are open, `states` those of all communicators at the last tick.
    """

    def __init__(self, cluster: Cluster) -> None:
        settings = DetectionSettings()
        self.cluster = cluster
        self.opened: list[Incident] = []
        self.ended: list[Incident] = []
        self.current: list[Incident] = []
        self.states: set[str] = set()
        self._detector = Detector(settings)
        self._tracker = IncidentTracker(settings)

    def run(self, ticks: int) -> None:
        """The next ticks."""
        for snapshot in self.cluster.snapshots(ticks):
            assessment = self._detector.step(snapshot)
            changes = self._tracker.step(assessment)
            self.opened += changes.opened
            self.ended += changes.ended
            self.current = [*changes.opened, *changes.ongoing]
            self.states = set(assessment.states.values())

    def until(self, seconds: float) -> None:
        """Run to so many seconds after the job's start."""
        self.run(round((self.cluster.start + seconds - self.cluster.time) / self.cluster.tick_seconds))

    @property
    def named(self) -> set[Name]:
        """Everybody who was ever named."""
        return {name_of(incident) for incident in self.opened}

    def delay_ticks(self, incident: Incident, begin_seconds: float) -> float:
        """How long it took to name what began so many seconds after the job's start."""
        return (incident.detected_at - self.cluster.start - begin_seconds) / self.cluster.tick_seconds
