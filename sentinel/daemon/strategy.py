"""Measurements of a range, read from the metrics store."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from sentinel.advise.collector import Collector
from sentinel.advise.measurement import Measurement
from sentinel.config.schedule import ScheduleSettings
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import Progress, replay
from sentinel.model.vocabulary import Vocabulary
from sentinel.model.volume import Volume
from sentinel.source.interface import Source

__all__ = ["Measured", "Volumes", "measure"]

Volumes = Callable[[Vocabulary, float, float, float], Iterator[Volume]]
"""Volumes at the instants of a range (first, last and step in seconds), in codes of that vocabulary."""

_MOST_WINDOWS = 400  # a longer range is read in longer windows


@dataclass(frozen=True)
class Measured:
    """What was measured in windows of `step_seconds` between two instants (Unix seconds).

    `partial` counts instants whose answer may not have been whole: they were passed over.
    """

    measurements: tuple[Measurement, ...]
    start: float
    end: float
    step_seconds: float
    partial: int


def measure(
    source: Source, volumes: Volumes, schedule: ScheduleSettings, start: float, end: float, progress: Progress
) -> Measured:
    """Read `start` to `end` (Unix seconds). SourceError where there is no history, or the store fails."""
    ticks = -(-round((end - start) * 1000) // (_MOST_WINDOWS * (schedule.tick // timedelta(milliseconds=1))))
    instants = Instants(schedule.model_copy(update={"tick": schedule.tick * max(1, ticks)}))
    first, last = instants.within(start, end)
    collector = Collector()
    moved: Iterator[Volume] | None = None
    for snapshot in replay(source, instants, start, end, progress):
        moved = moved or volumes(snapshot.vocabulary, first, last, instants.tick_seconds)
        collector.add(snapshot, next(moved))
    return Measured(collector.measurements(), first, last, instants.tick_seconds, collector.partial)
