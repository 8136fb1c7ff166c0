"""One stretch of history, read from a source and measured: here, or wherever a task is sent."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass

import orjson

from sentinel.baseline.measured import MeasuredStretch
from sentinel.baseline.measurer import JobIncident, StretchMeasurer
from sentinel.baseline.stretch import Stretch
from sentinel.config.detection import BaselineSettings
from sentinel.model.place import Freeze
from sentinel.source.interface import Source

__all__ = ["Measuring", "Task", "measure_here", "measure_stretch"]

Measuring = Callable[[Sequence["Task"], Callable[[int], None]], Iterator[tuple["Task", MeasuredStretch]]]
"""Measures tasks, in any order, each whole. Told of how many windows more have been read, as it goes. SourceError."""


@dataclass(frozen=True)
class Task:
    """A stretch, and all that decides what is measured in it, beside the source."""

    stretch: Stretch
    step_seconds: float
    settings: BaselineSettings
    incidents: tuple[JobIncident, ...]
    frozen: tuple[Freeze, ...]

    @property
    def identity(self) -> bytes:
        """Its stretch and what goes on in it, as JSON: settings are the same for all tasks of a build."""
        known = {
            "stretch": asdict(self.stretch),
            "incidents": [asdict(each) for each in self.incidents],
            "frozen": [asdict(each) for each in self.frozen],
        }
        return orjson.dumps(known, option=orjson.OPT_SORT_KEYS)


def measure_stretch(source: Source, task: Task, progress: Callable[[int], None]) -> MeasuredStretch:
    """Read and measure one stretch. SourceError."""
    stretch = task.stretch
    measurer = StretchMeasurer(task.settings, stretch.first, task.incidents, task.frozen)
    for snapshot in source.snapshots(stretch.primed_from, stretch.last, task.step_seconds):
        measurer.add(snapshot)
        if snapshot.time >= stretch.first:
            progress(1)
    return measurer.measured()


def measure_here(open_source: Callable[[], AbstractContextManager[Source]]) -> Measuring:
    """One stretch after the other, in this process.

    Each has a source of its own, as it has on a worker: what another one remembers of other stretches changes nothing.
    """

    def measure(tasks: Sequence[Task], progress: Callable[[int], None]) -> Iterator[tuple[Task, MeasuredStretch]]:
        for task in tasks:
            with open_source() as source:
                measured = measure_stretch(source, task, progress)
            yield task, measured

    return measure
