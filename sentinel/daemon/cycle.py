"""One tick: look, judge, remember, tell."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from sentinel.config.schedule import ScheduleSettings
from sentinel.daemon.dispatch import TAKEN, Dispatch
from sentinel.daemon.instants import Instants
from sentinel.daemon.tally import GoodTick, Tally
from sentinel.detect.detector import Detector
from sentinel.errors import SentinelError, SinkError, StateError
from sentinel.incident.tracker import Changes, IncidentTracker
from sentinel.model.incident import Assessment, Incident
from sentinel.model.snapshot import Snapshot
from sentinel.sink.interface import Delivery, Receipt
from sentinel.source.interface import Source
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

__all__ = ["Cycle", "Report"]

_log = structlog.get_logger()


@dataclass(frozen=True)
class Report:
    """What came of a tick. `error` is the first thing that went wrong."""

    open_incidents: tuple[Incident, ...]
    error: Exception | None = None


class Cycle:
    """Everything that lives from tick to tick.

    This is the one place where errors are caught. None of them resolves an alert.
    """

    def __init__(
        self,
        schedule: ScheduleSettings,
        source: Source,
        new_detector: Callable[[], Detector],
        tracker: IncidentTracker,
        dispatch: Dispatch,
        state: State,
        keep_ticks: int,
        tally: Tally,
        clock: Callable[[], float],
        alive: Callable[[], None] = lambda: None,  # called at each instant: work that hangs is then noticed
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schedule = schedule
        self._instants = Instants(schedule)
        self._source = source
        self._new_detector = new_detector
        self._detector: Detector | None = None  # until it is primed
        self._tracker = tracker
        self._dispatch = dispatch
        self._state = state
        self._keep_ticks = keep_ticks
        self._tally = tally
        self._clock = clock
        self._alive = alive
        self._monotonic = monotonic
        self._last: float | None = None  # the instant that was looked at last
        self._unsaved: dict[str, Incident] = {}  # changed, and not yet in the state

    def run(self) -> Report:
        """One tick, with the instants that were missed before it."""
        instant = self._instants.latest(self._clock())
        errors: list[Exception] = []
        started = self._monotonic()
        try:
            for snapshot in self._pending(instant):
                errors += self._take(snapshot, self._monotonic() - started)
                self._alive()
                started = self._monotonic()
        except SentinelError as error:
            _log.error("tick failed", instant=instant, error=str(error))
            errors += [error, *self._fail(instant, Outcome.SOURCE_ERROR, error, self._monotonic() - started)]
        except Exception as error:
            _log.exception("tick failed", instant=instant)
            errors += [error, *self._fail(instant, Outcome.ERROR, error, self._monotonic() - started)]
        # Also after a failed tick: alerts that are not sent again would end at Alertmanager.
        try:
            now = self._clock()
            errors += self._note(self._dispatch.send(now), now)
        except Exception as error:
            _log.exception("alerts not sent")
            errors.append(error)
        going_on = tuple(self._dispatch.open())
        self._tally.open_incidents = Counter((each.culprit.verdict, each.tier) for each in going_on)
        return Report(going_on, errors[0] if errors else None)

    def _pending(self, instant: float) -> Iterator[Snapshot]:
        """Snapshots of this instant and of those that were missed, so that live and backtest agree tick by tick."""
        if self._detector is None:
            self._prime(instant)
        if self._last is None:
            yield self._source.snapshot(instant)
            return
        missed = self._instants.between(self._last, instant) - 1
        if missed < 0:
            return
        if missed == 0:
            yield self._source.snapshot(instant)
            return
        caught_up = min(missed, self._schedule.catch_up_ticks)
        self._tally.instants_given_up += missed - caught_up
        first = self._instants.after(instant, -caught_up)
        _log.warning("catching up", ticks=caught_up, given_up=missed - caught_up)
        for snapshot in self._source.snapshots(first, instant, self._instants.tick_seconds):
            self._tally.instants_caught_up += snapshot.time < instant
            yield snapshot

    def _prime(self, instant: float) -> None:
        """Replay history through a new detector, and nothing else: it then judges as if it had always watched."""
        detector = self._new_detector()
        for first, last in self._history(instant):
            for snapshot in self._source.snapshots(first, last, self._instants.tick_seconds):
                detector.step(snapshot)
                self._alive()
        self._detector = detector

    def _history(self, instant: float) -> Iterator[tuple[float, float]]:
        """The ticks to replay: the last ones, and before them those around the start of the oldest open incident.

        A detector that first saw an open incident's fault would learn it as what is normal.
        """
        ticks = self._schedule.prime_ticks
        if not ticks:
            return
        recent = self._instants.after(instant, -ticks)
        started = [incident.started_at for incident in self._dispatch.open()]
        if started:
            start = self._instants.within(min(started), instant)[0]
            before = self._instants.after(start, -ticks)
            until = min(self._instants.after(start, ticks), self._instants.after(recent, -1))
            if before <= until:
                yield before, until
        yield recent, self._instants.after(instant, -1)

    def _take(self, snapshot: Snapshot, seconds: float) -> list[Exception]:
        # Before anything that may fail: an instant that breaks a detector is not looked at for ever.
        self._last = snapshot.time
        assert self._detector is not None  # noqa: S101 (primed in _pending)
        started = self._monotonic()
        assessment = self._detector.step(snapshot)
        changes = self._tracker.step(assessment)
        self._dispatch.update(changes)
        self._log_changes(changes)
        self._count(assessment, changes)
        self._tally.partial_snapshots += snapshot.quality.partial
        self._tally.malformed_series += snapshot.quality.malformed_series
        if snapshot.quality.partial:
            _log.warning("partial answer", warnings=snapshot.quality.warnings)
        self._unsaved.update({i.id: i for i in (*changes.opened, *changes.ongoing, *changes.ended)})
        self._tally.ticks[Outcome.OK] += 1
        seconds += self._monotonic() - started
        _log.debug("tick", instant=snapshot.time, findings=len(assessment.findings), seconds=round(seconds, 3))
        self._tally.last_good = GoodTick(snapshot.time, self._monotonic())
        return self._record(TickRecord(snapshot.time, Outcome.OK, seconds, len(assessment.findings)))

    def _count(self, assessment: Assessment, changes: Changes) -> None:
        self._tally.opened.update(each.culprit.verdict for each in changes.opened)
        # A state that nobody is in any more is 0, not gone.
        self._tally.communicators = {
            **dict.fromkeys(self._tally.communicators, 0),
            **Counter(assessment.states.values()),
        }

    def _fail(self, instant: float, outcome: Outcome, error: Exception, seconds: float) -> list[Exception]:
        self._tally.ticks[outcome] += 1
        return self._record(TickRecord(instant, outcome, seconds, 0, str(error)))

    def _record(self, tick: TickRecord) -> list[Exception]:
        """A state that cannot be written stops nothing: what it lacks is written with the next tick that can."""
        self._tally.tick_seconds.observe(tick.duration_seconds)
        try:
            self._state.record(tick, self._unsaved.values(), self._keep_ticks)
        except StateError as error:
            self._tally.state_errors += 1
            _log.error("state not written", error=str(error))
            return [error]
        self._unsaved.clear()
        return []

    def _note(self, deliveries: tuple[Delivery, ...], now: float) -> list[Exception]:
        errors: list[Exception] = []
        for delivery in deliveries:
            self._tally.deliveries[delivery.url, delivery.receipt] += 1
            if delivery.receipt in TAKEN and self._dispatch.has_heartbeat:
                self._tally.heartbeat_sent_at = now
            if delivery.receipt is Receipt.ACCEPTED:
                self._tally.delivered_at[delivery.url] = now
            if delivery.receipt is not Receipt.ACCEPTED:
                _log.error(
                    "alerts not delivered", url=delivery.url, receipt=delivery.receipt.value, error=delivery.error
                )
                errors.append(SinkError("cannot deliver alerts", where=delivery.url, why=delivery.error))
        return errors

    @staticmethod
    def _log_changes(changes: Changes) -> None:
        for word, incidents in (
            ("incident opened", changes.opened),
            ("incident came back", changes.reopened),
            ("incident's tier rose", changes.raised),
            ("incident ended", changes.ended),
        ):
            for incident in incidents:
                culprit = incident.culprit
                _log.warning(
                    word,
                    id=incident.id,
                    verdict=culprit.verdict.value,
                    tier=incident.tier.value,
                    job_id=culprit.job_id,
                    comm_name=culprit.comm_name,
                    ranks=culprit.ranks,
                    node=culprit.node,
                    gpu=culprit.gpu,
                    cost_ratio=round(incident.cost_ratio, 4),
                )
