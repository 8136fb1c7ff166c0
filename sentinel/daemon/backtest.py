"""The live code over history, tick by tick."""

from dataclasses import dataclass

from sentinel.baseline.baseline import Baseline
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import Progress, replay
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident
from sentinel.source.interface import Source

__all__ = ["Backtest", "run_backtest"]


@dataclass(frozen=True)
class Backtest:
    """What the daemon would have said. `incidents` are in the order of their detection, each as it stood last."""

    start: float  # the first and the last instant, Unix seconds
    end: float
    ticks: int
    partial_ticks: int
    notes: tuple[str, ...]  # what was left out at the last instant, and why
    incidents: tuple[Incident, ...]


def run_backtest(
    source: Source, settings: Settings, baseline: Baseline | None, start: float, end: float, progress: Progress
) -> Backtest:
    """Replay `start` to `end` through the detectors, warmed up by the ticks before as the daemon's are at its start.

    `baseline` must know of nothing after `start`: the caller sees to it. Without one the detectors learn on the way.
    """
    instants = Instants(settings.schedule)
    first, last = instants.within(start, end)
    detector = Detector(settings.detection, baseline)
    tracker = IncidentTracker(settings.detection)
    incidents: dict[str, Incident] = {}
    ticks = partial = 0
    notes: tuple[str, ...] = ()
    for snapshot in replay(source, instants, start, end, progress, before=settings.schedule.prime_ticks):
        assessment = detector.step(snapshot)
        if snapshot.time < first:
            continue
        ticks += 1
        partial += snapshot.quality.partial
        notes = snapshot.quality.notes
        changes = tracker.step(assessment)
        for incident in (*changes.opened, *changes.ongoing, *changes.ended):
            incidents[incident.id] = incident
    return Backtest(first, last, ticks, partial, notes, tuple(incidents.values()))
