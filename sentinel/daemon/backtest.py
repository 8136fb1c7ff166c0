"""The live code over history, tick by tick, in the order of time."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.stretch import Stretch, plan_stretches
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import Progress, instants_within, no_history
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident
from sentinel.model.snapshot import Snapshot
from sentinel.source.interface import Source

__all__ = ["Backtest", "Replayed", "backtest_stretches", "run_backtest"]


@dataclass(frozen=True)
class Backtest:
    """What the daemon would have said. `incidents` are in the order of their detection, each as it stood last."""

    start: float  # the first and the last instant, Unix seconds
    end: float
    ticks: int
    partial_ticks: int
    notes: tuple[str, ...]  # what was left out at the last instant, and why
    incidents: tuple[Incident, ...]


@dataclass
class Replayed:
    """All that decides how a backtest goes on after the Unix time `until`, beside what the source remembers."""

    detector: Detector
    tracker: IncidentTracker
    until: float = -math.inf
    incidents: dict[str, Incident] = field(default_factory=dict)
    has_series: bool = False
    ticks: int = 0
    partial: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def begin(cls, settings: Settings, baseline: Baseline | None) -> "Replayed":
        """Nothing yet."""
        return cls(Detector(settings.detection, baseline), IncidentTracker(settings.detection))

    def step(self, snapshot: Snapshot, first: float) -> None:
        """One more tick; before the Unix time `first` it only warms up, as the daemon's do at its start."""
        self.has_series |= bool(len(snapshot.cells.rank) or len(snapshot.communicators.rank))
        assessment = self.detector.step(snapshot)
        self.until = snapshot.time
        if snapshot.time < first:
            return
        self.ticks += 1
        self.partial += snapshot.quality.partial
        self.notes = snapshot.quality.notes
        changes = self.tracker.step(assessment)
        for incident in (*changes.opened, *changes.ongoing, *changes.ended):
            self.incidents[incident.id] = incident


def backtest_stretches(settings: Settings, start: float, end: float) -> list[Stretch]:
    """What a backtest of that range (Unix seconds) reads, in order, the ticks that warm it up among it. SourceError."""
    instants = Instants(settings.schedule)
    first, last = instants_within(instants, start, end)
    begin = instants.after(first, -settings.schedule.prime_ticks)
    return list(plan_stretches(begin, last, instants.tick_seconds, 0.0))


def run_backtest(
    source: Source,
    settings: Settings,
    baseline: Baseline | None,
    start: float,
    end: float,
    progress: Progress,
    replayed: Replayed | None = None,
    keep: Callable[[Replayed], None] | None = None,
) -> Backtest:
    """Replay `start` to `end` (Unix seconds) through the detectors, warmed up by the ticks before.

    `baseline` must know of nothing after `start`: the caller sees to it. Without one the detectors learn on the way.
    SourceError when the whole range holds no series of ours.

    `keep` is given what was replayed at the end of each of `backtest_stretches`, but the last, which the end of the
    range may have cut short. From one of those it goes on exactly as it would have: nothing is left out of it, and
    stretches are read by themselves. The source has to remember the same.
    """
    instants = Instants(settings.schedule)
    first, last = instants_within(instants, start, end)
    stretches = backtest_stretches(settings, start, end)
    replayed = replayed or Replayed.begin(settings, baseline)
    total = sum(stretch.windows for stretch in stretches)
    done = sum(stretch.windows for stretch in stretches if stretch.last <= replayed.until)
    for stretch in stretches:
        if stretch.last <= replayed.until:
            continue
        for snapshot in source.snapshots(stretch.first, stretch.last, instants.tick_seconds):
            replayed.step(snapshot, first)
            done += 1
            progress(done, total)
        if keep is not None and stretch is not stretches[-1]:
            keep(replayed)
    if not replayed.has_series:
        raise no_history(start, end)
    incidents = tuple(replayed.incidents.values())
    return Backtest(first, last, replayed.ticks, replayed.partial, replayed.notes, incidents)
