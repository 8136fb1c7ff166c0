"""The ranks' course around an incident, read again from the metrics store by the code that the daemon measures with."""

import json
from dataclasses import dataclass

from sentinel.config.metrics_dialect import Dialect
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import Progress
from sentinel.errors import SourceError
from sentinel.measure.lateness import measure_lateness
from sentinel.measure.membership import MembershipReader
from sentinel.measure.window import Differencer
from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.plot.course import CommunicatorCourse, Recorder
from sentinel.source.interface import Source

__all__ = ["IncidentCourse", "narrowed", "read_course"]

_LEAST_BEFORE_TICKS = 20
_MOST_BEFORE_TICKS = 120
_AFTER_TICKS = 10
_MOST_WINDOWS = 400  # more than the eye sees; a longer time is read in longer windows


@dataclass(frozen=True)
class IncidentCourse:
    """`step_seconds`: the length of a window. `partial`: how many instants the store warned about."""

    course: CommunicatorCourse
    step_seconds: float
    partial: int


def narrowed(settings: PrometheusSettings, comm: str) -> PrometheusSettings:
    """The same store, asked about one communicator only: a fleet's history would take long to read.

    Not where no series has a communicator's id.
    """
    if settings.dialect is Dialect.INSPECTOR:
        return settings
    matcher = f"comm={json.dumps(comm)}"
    selector = f"{settings.selector},{matcher}" if settings.selector else matcher
    return settings.model_copy(update={"selector": selector})


def read_course(
    source: Source, settings: Settings, incident: Incident, now: float, progress: Progress
) -> IncidentCourse:
    """From some ticks before the incident began until some after it ended, or `now` (Unix seconds).

    SourceError when the store has nothing of that communicator in that time, or cannot be read.
    """
    start, end, step = _range(incident, Instants(settings.schedule), now)
    total = round((end - start) / step) + 1
    differencer, members = Differencer(), MembershipReader()
    named, culprits, partial = frozenset(incident.culprit.ranks), dict[int, int](), 0
    recorder: Recorder | None = None
    for done, snapshot in enumerate(source.snapshots(start, end, step) if start < end else (), start=1):
        progress(done, total)
        partial += snapshot.quality.partial
        code = snapshot.vocabulary.code(incident.culprit.comm)
        recorder = recorder or Recorder(code, snapshot.vocabulary)
        communicator = members.read(snapshot).communicators.get(code)
        for rank, member in communicator.members.items() if communicator else ():
            if member.global_rank in named:
                culprits[rank] = member.global_rank
        window = differencer.step(snapshot)
        min_operations = settings.detection.baseline.min_operations
        lateness = measure_lateness(window, snapshot.vocabulary, min_operations) if window else None
        recorder.add(snapshot.time, window, lateness, culprits)
    course = recorder.course() if recorder else None
    if course is None or course.empty:
        raise SourceError(
            "nothing to draw",
            where=f"{format_instant(start)} to {format_instant(end)}",
            why=f"the metrics store has no operations of communicator {incident.culprit.comm} in that time",
            hint="It may be older than the store keeps; `sentinel explain` without --plot needs no store.",
        )
    return IncidentCourse(course, step, partial)


def _range(incident: Incident, instants: Instants, now: float) -> tuple[float, float, float]:
    """First and last instant, and the step between: the tick, or as many of them as keep the windows few.

    Both are multiples of the step on the Unix clock.
    """
    tick = instants.tick_seconds
    latest = instants.latest(now)
    end = latest if incident.ended_at is None else min(latest, incident.ended_at + _AFTER_TICKS * tick)
    lasted_ticks = (end - incident.started_at) / tick
    before_ticks = min(max(_LEAST_BEFORE_TICKS, lasted_ticks), _MOST_BEFORE_TICKS)
    start = incident.started_at - before_ticks * tick
    ticks = max(1, -(-instants.between(start, end) // _MOST_WINDOWS))
    step_ms = round(tick * 1000) * ticks
    first, last = (round(time * 1000) // step_ms * step_ms for time in (start, end))
    return first / 1000, last / 1000, step_ms / 1000
