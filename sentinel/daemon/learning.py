"""Building a baseline from history."""

import math

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.replay import Progress, replay
from sentinel.source.interface import Source
from sentinel.state.store import State

__all__ = ["learn_baseline"]


def learn_baseline(
    source: Source, settings: Settings, state: State, start: float, end: float, progress: Progress
) -> Baseline:
    """Learn from `start` to `end` (Unix seconds), except what the state knows to be no normal time.

    That is while an incident was going on, and where an alert of others froze what is learnt.
    """
    excluded = [
        (incident.started_at, math.inf if incident.ended_at is None else incident.ended_at)
        for incident in state.incidents_since(start)
    ]
    builder = BaselineBuilder(settings.detection.baseline, excluded, state.freezes_since(start))
    for snapshot in replay(source, Instants(settings.schedule), start, end, progress):
        builder.add(snapshot)
    return builder.build()
