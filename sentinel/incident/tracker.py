"""From findings, tick by tick, to incidents that open, go on and end."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sentinel.config.detection import DetectionSettings
from sentinel.incident.admission import is_wanted, may_open
from sentinel.incident.counts import Clear, Counts
from sentinel.incident.surroundings import Surroundings
from sentinel.incident.tier import is_large, louder, tier_of
from sentinel.model.incident import Assessment, CulpritKey, Finding, FormerTier, Incident, Tier

__all__ = ["Changes", "IncidentTracker"]


@dataclass(frozen=True)
class Changes:
    """What one tick did to the incidents.

    `ongoing` are those that were known before and go on; `reopened` (they had ended, and are back) and `raised` (their
    tier rose) are among them. `noted` had ended before, and more is known of them now. `silenced` are findings that
    would have opened an incident, had an alert of others not silenced them since this tick.
    """

    opened: tuple[Incident, ...] = ()
    ongoing: tuple[Incident, ...] = ()
    ended: tuple[Incident, ...] = ()
    reopened: tuple[Incident, ...] = ()
    raised: tuple[Incident, ...] = ()
    noted: tuple[Incident, ...] = ()
    silenced: tuple[Finding, ...] = ()


_NOTHING = Surroundings()


class IncidentTracker:
    """Keeps the open incidents.

    One ends after `clear_ticks` ticks in a row in which its finding was neither made nor held; where it is held for as
    long as that in between, they are no row. It is held as well while its communicator is not there, for `gone_after`:
    then the job is over. Evidence that is back within `reopen_within`
    makes it go on, and from then on it ends only after that long without any (ADR 8). The id is a digest of the culprit
    and the start, so that two daemons, or the daemon and a backtest, that see the same data give it the same id.
    Where an alert of others silences its place, none opens, and what is open is held as it is (ADR 12).
    """

    def __init__(
        self,
        settings: DetectionSettings,
        known: Iterable[Incident] = (),
        before: "IncidentTracker | None" = None,
    ) -> None:
        """`known` are the incidents that go on, and those that ended within `reopen_within`.

        `before` is the tracker that this one takes the place of: what it counted of them is counted on.
        """
        self._settings = settings
        self._open: dict[CulpritKey, Incident] = {}
        self._ended: dict[CulpritKey, Incident] = {}
        for incident in sorted(known, key=lambda each: each.ended_at or 0.0):
            (self._open if incident.ended_at is None else self._ended)[incident.culprit.key] = incident
        self._counts = Counts() if before is None else before.counts()

    def counts(self) -> Counts:
        """What it has counted so far; a copy."""
        return self._counts.copy()

    def step(self, assessment: Assessment, surroundings: Surroundings = _NOTHING) -> Changes:
        """Take one tick's assessment, and what else is known at its instant."""
        now = assessment.time
        elapsed_seconds = 0.0 if self._counts.time is None else now - self._counts.time
        self._counts.time = now
        wanted = [each for each in assessment.findings if is_wanted(each, self._for(each))]
        found = {each.culprit.key: each for each in wanted if not surroundings.silence(each)}
        silenced = self._step_silenced([each for each in wanted if each.culprit.key not in found])
        before = dict(self._open)
        ended = [] if not before else self._step_open(found, assessment, elapsed_seconds, surroundings)
        opened, reopened = self._step_closed(found, now)
        noted = self._note(surroundings)
        ongoing = [self._open[key] for key in before if key in self._open]
        raised = [each for each in ongoing if each.tier is not before[each.culprit.key].tier]
        # Those that end now are remembered only now: what ends in a tick does not come back in it.
        ended = [surroundings.noted(incident) for incident in ended]
        self._ended.update({incident.culprit.key: incident for incident in ended})
        return Changes(
            opened=tuple(self._open[key] for key in opened),
            ongoing=(*ongoing, *(self._open[key] for key in reopened)),
            ended=tuple(ended),
            reopened=tuple(self._open[key] for key in reopened),
            raised=tuple(raised),
            noted=noted,
            silenced=silenced,
        )

    def _step_silenced(self, findings: list[Finding]) -> tuple[Finding, ...]:
        """Those that are silenced for the first time in a row, and of which no incident is open."""
        before, self._counts.silenced = self._counts.silenced, {each.culprit.key for each in findings}
        return tuple(each for each in findings if each.culprit.key not in before | self._open.keys())

    def _note(self, surroundings: Surroundings) -> tuple[Incident, ...]:
        """Keep what is known of the incidents; those of which more is known now, though they had ended."""
        self._open = {key: surroundings.noted(incident) for key, incident in self._open.items()}
        before = self._ended
        self._ended = {key: surroundings.noted(incident) for key, incident in before.items()}
        return tuple(incident for key, incident in self._ended.items() if incident is not before[key])

    def _step_open(
        self,
        found: dict[CulpritKey, Finding],
        assessment: Assessment,
        elapsed_seconds: float,
        surroundings: Surroundings,
    ) -> list[Incident]:
        """Go on with the open ones; those that end."""
        ended = []
        for key, incident in list(self._open.items()):
            if incident.culprit.comm in assessment.states or key not in self._counts.present:
                self._counts.present[key] = assessment.time
            if key in found:
                self._counts.clear.pop(key, None)
                self._open[key] = self._updated(incident, found[key], assessment.time)
            elif surroundings.silence(incident):
                self._counts.clear.pop(key, None)
            elif not self._held(incident, assessment):
                clear = self._clear_until(incident, assessment.time, elapsed_seconds)
                self._counts.clear[key] = clear
                if self._is_over(incident, clear):
                    ended.append(replace(incident, ended_at=clear.since))
                    del self._open[key]
                    self._counts.forget(key)
        return ended

    def _step_closed(self, found: dict[CulpritKey, Finding], now: float) -> tuple[list[CulpritKey], list[CulpritKey]]:
        """Open new ones, or go on with those that had ended not long ago; the keys of both."""
        within = self._settings.reopen_within.total_seconds()
        self._ended = {key: each for key, each in self._ended.items() if now - (each.ended_at or now) <= within}
        opened, reopened = [], []
        for key, finding in found.items():
            if key in self._open or not may_open(finding, self._for(finding), self._settings):
                continue
            old = self._ended.pop(key, None) if within else None
            if old is None:
                self._open[key] = self._new(finding, now)
                opened.append(key)
            else:
                back = replace(old, ended_at=None, recurrences=old.recurrences + 1)
                self._open[key] = self._updated(back, finding, now)
                reopened.append(key)
        return opened, reopened

    def _held(self, incident: Incident, assessment: Assessment) -> bool:
        """Whether nothing can be said about an incident whose finding was not made."""
        key = incident.culprit.key
        if not assessment.judged or key in assessment.held:
            return True
        away_seconds = assessment.time - self._counts.present[key]
        return (
            incident.culprit.comm not in assessment.states and away_seconds <= self._settings.gone_after.total_seconds()
        )

    def _clear_until(self, incident: Incident, now: float, elapsed_seconds: float) -> Clear:
        row = self._counts.clear.get(incident.culprit.key)
        needed_ticks = self._for(incident).clear_ticks(incident.culprit.verdict)
        if row is None or now - row.last > (needed_ticks + 1) * elapsed_seconds:
            row = Clear(now, now)
        return row.and_one_of(elapsed_seconds, now)

    def _is_over(self, incident: Incident, clear: Clear) -> bool:
        if clear.ticks < self._for(incident).clear_ticks(incident.culprit.verdict):
            return False
        return not incident.recurrences or clear.seconds >= self._settings.reopen_within.total_seconds()

    def _new(self, finding: Finding, now: float) -> Incident:
        digest = hashlib.sha256(repr((finding.culprit.key, finding.started_at)).encode()).hexdigest()
        return Incident(
            id=digest[:12],
            culprit=finding.culprit,
            tier=self._tier(finding, finding.started_at, now),
            started_at=finding.started_at,
            detected_at=now,
            ended_at=None,
            cost_ratio=finding.cost_ratio,
            victims=finding.victims,
            evidence=finding.evidence,
        )

    def _updated(self, incident: Incident, finding: Finding, now: float) -> Incident:
        """The numbers of its worst tick, so that they do not fade with it; identity and start stay."""
        tier = louder(incident.tier, self._tier(finding, now, now))
        if tier is not incident.tier:
            former = FormerTier(incident.tier, now)
            incident = replace(incident, tier=tier, former_tiers=(*incident.former_tiers, former))
        if finding.cost_ratio < incident.cost_ratio:
            return incident
        return replace(incident, cost_ratio=finding.cost_ratio, victims=finding.victims, evidence=finding.evidence)

    def _tier(self, finding: Finding, since: float, now: float) -> Tier:
        """The tier as of now; `since` is when it began to cost what it does, where that is not known from before."""
        key, tiers = finding.culprit.key, self._for(finding).tiers
        if is_large(finding, tiers):
            self._counts.large_since.setdefault(key, since)
        else:
            self._counts.large_since.pop(key, None)
        return tier_of(finding, now - self._counts.large_since.get(key, now), tiers)

    def _for(self, one: Finding | Incident) -> DetectionSettings:
        return self._settings.settings_for(one.culprit.job_id)
