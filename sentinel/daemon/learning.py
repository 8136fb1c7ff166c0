"""Building a baseline from history, stretch by stretch: what is finished is kept, and not done again."""

import math
from collections.abc import Sequence

from sentinel import __version__
from sentinel.baseline.baseline import Baseline
from sentinel.baseline.measured import ALGORITHM
from sentinel.baseline.measurer import JobIncident
from sentinel.baseline.merge import merge
from sentinel.baseline.stretch import Stretch, plan_stretches
from sentinel.config.metrics_dialect import Dialect
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.measuring import Measuring, Task
from sentinel.daemon.replay import Progress, instants_within, no_history
from sentinel.daemon.stored_measurements import StoredMeasurements, store
from sentinel.model.place import Freeze
from sentinel.source.inspector import STALE_SECONDS
from sentinel.state.store import State
from sentinel.state.work_file import WorkFile, key_of

__all__ = ["WORK_FILE_NAME", "make_baseline", "plan_learning", "read_history", "work_key"]

WORK_FILE_NAME = "baseline-build.work"


# Of [prometheus]: they decide how it is read, and not what.
_HOW_NOT_WHAT = {"external_url", "timeout", "retries", "max_answer", "ca_file", "cert_file", "key_file"}


def work_key(settings: Settings) -> bytes:
    """All that decides what is measured in a stretch, beside what a task says of itself."""
    decisive = {
        "version": __version__,
        "algorithm": ALGORITHM,
        "headers": settings.prometheus.headers,
        "prometheus": settings.prometheus.model_dump(mode="json", exclude=_HOW_NOT_WHAT),
        "tick": str(settings.schedule.tick),
        "baseline": settings.detection.baseline.model_dump(mode="json"),
    }
    return key_of(decisive)


def plan_learning(settings: Settings, state: State, start: float, end: float) -> list[Task]:
    """From `start` to `end` (Unix seconds), except what the state knows to be no normal time.

    That is a job while an incident was going on in it, and where an alert of others froze what is learnt. SourceError
    where there is no instant in that time.
    """
    instants = Instants(settings.schedule)
    first, last = instants_within(instants, start, end)
    incidents = [
        JobIncident(each.culprit.job, each.started_at, math.inf if each.ended_at is None else each.ended_at)
        for each in state.incidents_since(start)
    ]
    frozen = state.freezes_since(start)
    priming = settings.detection.baseline.warm_up.total_seconds()
    if settings.prometheus.dialect is Dialect.INSPECTOR:
        priming = max(priming, STALE_SECONDS)
    return [
        Task(
            stretch,
            instants.tick_seconds,
            settings.detection.baseline,
            tuple(JobIncident(each.job, *_within(stretch, each)) for each in incidents if _touches(stretch, each)),
            tuple(Freeze(each.place, *_within(stretch, each)) for each in frozen if _touches(stretch, each)),
        )
        for stretch in plan_stretches(first, last, instants.tick_seconds, priming)
    ]


def _touches(stretch: Stretch, each: JobIncident | Freeze) -> bool:
    return stretch.primed_from < each.ended_at and each.started_at < stretch.last


def _within(stretch: Stretch, each: JobIncident | Freeze) -> tuple[float, float]:
    """As far as it matters there: one that goes on, or has gone on since, is the same."""
    return max(stretch.primed_from, each.started_at), min(stretch.last, each.ended_at)


def read_history(measuring: Measuring, tasks: Sequence[Task], work: WorkFile, progress: Progress) -> None:
    """Measure the tasks that `work` does not have yet. SourceError, StateError.

    What is finished stays in `work`, also where this fails: whoever has kept the baseline removes it.
    """
    wanted = {task.identity: task for task in tasks}
    work.keep(wanted.keys())
    finished = work.pieces()
    total = sum(task.stretch.windows for task in tasks)
    done = sum(wanted[identity].stretch.windows for identity in finished)

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    report(0)
    for task, measured in measuring([task for task in tasks if task.identity not in finished], report):
        store(work, task.identity, measured)


def make_baseline(tasks: Sequence[Task], min_ticks: int, work: WorkFile, progress: Progress) -> Baseline:
    """Of the history that was read. SourceError where there was no series of ours, StateError."""
    measurements = StoredMeasurements(work, [task.identity for task in tasks])
    first, last = tasks[0].stretch.first, tasks[-1].stretch.last
    if not any(head.has_series for head in measurements.heads):
        work.remove()
        raise no_history(first, last)
    return merge(measurements, min_ticks, first, last, progress)
