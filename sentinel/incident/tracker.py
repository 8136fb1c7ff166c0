"""From findings, tick by tick, to incidents that open, go on and end."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sentinel.config.detection import DetectionSettings
from sentinel.incident.tier import tier_of
from sentinel.model.incident import Assessment, CulpritKey, Finding, Incident, Verdict

__all__ = ["Changes", "IncidentTracker"]


@dataclass(frozen=True)
class Changes:
    """What one tick did to the incidents. `ongoing` are those that were open before and still are."""

    opened: tuple[Incident, ...] = ()
    ongoing: tuple[Incident, ...] = ()
    ended: tuple[Incident, ...] = ()


class IncidentTracker:
    """Keeps the open incidents.

    One ends after `clear_ticks` ticks in a row in which its finding was neither made nor held. It is held as well while
    its communicator is not there, for `gone_after`: then the job is over. The id is a digest of the culprit and the
    start, so that two daemons, or the daemon and a backtest, that see the same data give it the same id.
    """

    def __init__(self, settings: DetectionSettings, open_incidents: Iterable[Incident] = ()) -> None:
        self._settings = settings
        self._open = {incident.culprit.key: incident for incident in open_incidents}
        self._clear: dict[CulpritKey, list[float]] = {}  # times of the ticks without evidence, in a row
        self._present: dict[CulpritKey, float] = {}  # when its communicator was last there, or was first looked for

    def step(self, assessment: Assessment) -> Changes:
        """Take one tick's assessment."""
        found = {finding.culprit.key: finding for finding in assessment.findings}
        ongoing, ended = [], []
        for key, incident in list(self._open.items()):
            if incident.culprit.comm in assessment.states or key not in self._present:
                self._present[key] = assessment.time
            if key in found:
                self._clear.pop(key, None)
                self._open[key] = _updated(incident, found[key])
            elif not self._held(incident, assessment):
                clear = self._clear.setdefault(key, [])
                clear.append(assessment.time)
                if len(clear) >= self._clear_ticks(incident.culprit.verdict):
                    ended.append(replace(incident, ended_at=clear[0]))
                    del self._open[key], self._clear[key], self._present[key]
                    continue
            ongoing.append(self._open[key])
        opened = [self._new(finding, assessment.time) for key, finding in found.items() if key not in self._open]
        self._open.update({incident.culprit.key: incident for incident in opened})
        return Changes(tuple(opened), tuple(ongoing), tuple(ended))

    def _held(self, incident: Incident, assessment: Assessment) -> bool:
        """Whether nothing can be said about an incident whose finding was not made."""
        key = incident.culprit.key
        if not assessment.judged or key in assessment.held:
            return True
        away_seconds = assessment.time - self._present[key]
        return (
            incident.culprit.comm not in assessment.states and away_seconds <= self._settings.gone_after.total_seconds()
        )

    def _new(self, finding: Finding, now: float) -> Incident:
        digest = hashlib.sha256(repr((finding.culprit.key, finding.started_at)).encode()).hexdigest()
        return Incident(
            id=digest[:12],
            culprit=finding.culprit,
            tier=tier_of(finding, self._settings.tiers),
            started_at=finding.started_at,
            detected_at=now,
            ended_at=None,
            cost_ratio=finding.cost_ratio,
            victims=finding.victims,
            evidence=finding.evidence,
        )

    def _clear_ticks(self, verdict: Verdict) -> int:
        if verdict is Verdict.STALLED:
            return self._settings.stalled.clear_ticks
        return self._settings.late_rank.clear_ticks


def _updated(incident: Incident, finding: Finding) -> Incident:
    """The numbers of its worst tick, so that they do not fade with it; identity, start and tier stay."""
    if finding.cost_ratio < incident.cost_ratio:
        return incident
    return replace(incident, cost_ratio=finding.cost_ratio, victims=finding.victims, evidence=finding.evidence)
