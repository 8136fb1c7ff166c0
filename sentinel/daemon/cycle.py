"""One tick: look, judge, remember, tell."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import structlog

from sentinel.config.schedule import ScheduleSettings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.clock_step import ClockSteps
from sentinel.daemon.deadline import Abandoned, Deadline
from sentinel.daemon.dispatch import TAKEN, Dispatch
from sentinel.daemon.instants import Instants
from sentinel.daemon.surroundings import nothing_known
from sentinel.daemon.tally import GoodTick, Tally
from sentinel.detect.detector import Detector
from sentinel.detect.hardware import REMEMBERED_SECONDS
from sentinel.errors import SentinelError, SinkError, StateError
from sentinel.history.look import Look
from sentinel.incident.surroundings import Surroundings
from sentinel.incident.tracker import Changes, IncidentTracker
from sentinel.model.incident import Assessment, Incident
from sentinel.model.place import Freeze
from sentinel.model.place_rank import known_ranks
from sentinel.model.snapshot import Snapshot
from sentinel.sink.interface import Receipt
from sentinel.source.interface import Source
from sentinel.state.database import BrokenStateError
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

__all__ = ["Cycle", "Report"]

_log = structlog.get_logger()

_HUNG_INSTANTS = 100  # the last ones are passed over when a detector is primed


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
        clock: SteadyClock,
        alive: Callable[[], None] = lambda: None,  # called at each instant: work that hangs is then noticed
        monotonic: Callable[[], float] = time.monotonic,
        unsaved: Iterable[Incident] = (),  # that the state does not know of
        surroundings: Callable[[Snapshot], Surroundings] = nothing_known,
        show: Callable[[Look], None] = lambda _: None,  # takes what the tick saw, and never waits
    ) -> None:
        self._schedule = schedule
        self._instants = Instants(schedule)
        self._source = source
        self._new_detector = new_detector
        self._detector: Detector | None = None  # until it is primed
        self.tracker = tracker
        self._dispatch = dispatch
        self._state = state
        self._keep_ticks = keep_ticks
        self._tally = tally
        self._clock = clock
        self._alive = alive
        self._monotonic = monotonic
        self._surroundings = surroundings
        self._show = show
        self._deadline = Deadline(schedule.deadline_seconds)
        self._steps = ClockSteps(clock, source, self._instants, self._deadline)
        self._notes: tuple[str, ...] = ()  # as they were logged last
        self._last: float | None = None  # the instant that was looked at last
        self._seen: float | None = None  # the last at which there was anything to see
        self._hung: deque[float] = deque(maxlen=_HUNG_INSTANTS)  # that the detector hung at
        self._unsaved = {incident.id: incident for incident in unsaved}  # changed, and not yet in the state

    def run(self) -> Report:
        """One tick, with the instants that were missed before it."""
        try:
            return self._run()
        finally:
            self._deadline.stop()

    def collect(self) -> list[Exception]:
        """Count what has become of deliveries; what went wrong with them."""
        errors: list[Exception] = []
        for delivery in self._dispatch.outcomes():
            self._tally.deliveries[delivery.url, delivery.receipt] += 1
            if delivery.receipt in TAKEN and self._dispatch.has_heartbeat:
                self._tally.heartbeat_sent_at = self._clock()
            if delivery.receipt is Receipt.ACCEPTED:
                self._tally.delivered_at[delivery.url] = self._clock()
                continue
            _log.error("alerts not delivered", url=delivery.url, receipt=delivery.receipt.value, error=delivery.error)
            errors.append(SinkError("cannot deliver alerts", where=delivery.url, why=delivery.error))
        return errors

    def unsaved(self) -> tuple[Incident, ...]:
        """What the state does not know yet: it could not be written."""
        return tuple(self._unsaved.values())

    def _run(self) -> Report:
        followed = self._steps.follow(self._seen)
        instant = self._instants.latest(self._clock())
        if followed and self._last is not None and self._last > instant:
            # Looked at too early, when nothing was there yet: looked at again.
            self._last, self._detector = self._seen, None
        errors: list[Exception] = []
        sent = False
        started = self._monotonic()
        try:
            for snapshot in self._pending(instant):
                errors += self._take(snapshot, self._monotonic() - started)
                errors += self._send()
                sent = True
                self._alive()
                started = self._monotonic()
        except Abandoned:
            error = SentinelError("a tick is abandoned", why=f"it hung for {self._deadline.seconds:g} s")
            _log.error("tick abandoned", instant=instant, after_seconds=self._deadline.seconds)
            errors += [error, *self._fail(instant, Outcome.ABANDONED, error, self._monotonic() - started)]
        except SentinelError as error:
            _log.error("tick failed", instant=instant, error=str(error))
            errors += [error, *self._fail(instant, Outcome.SOURCE_ERROR, error, self._monotonic() - started)]
        except Exception as error:
            _log.exception("tick failed", instant=instant)
            errors += [error, *self._fail(instant, Outcome.ERROR, error, self._monotonic() - started)]
        # Also after a failed tick: alerts that are not sent again would end at Alertmanager.
        if not sent:
            errors += self._send()
        going_on = tuple(self._dispatch.open())
        self._tally.open_incidents = Counter((each.culprit.verdict, each.tier) for each in going_on)
        return Report(going_on, errors[0] if errors else None)

    def _send(self) -> list[Exception]:
        try:
            self._dispatch.send(self._clock())
            return self.collect()
        except Exception as error:
            _log.exception("alerts not sent")
            return [error]

    def _pending(self, instant: float) -> Iterator[Snapshot]:
        """Snapshots of this instant and of those that were missed, so that live and backtest agree tick by tick."""
        first = instant
        if self._last is not None:
            missed = self._instants.between(self._last, instant) - 1
            if missed < 0:
                return
            caught_up = min(missed, self._schedule.catch_up_ticks)
            self._tally.instants_given_up += missed - caught_up
            first = self._instants.after(instant, -caught_up)
            self._last = self._instants.after(first, -1)  # given up once, also when the store fails now
            if missed:
                _log.warning("catching up", ticks=caught_up, given_up=missed - caught_up)
        if self._detector is None:
            self._prime(first)
        if first == instant:
            yield from self._bounded(self._source.snapshot(each) for each in (instant,))
            return
        for snapshot in self._bounded(self._source.snapshots(first, instant, self._instants.tick_seconds)):
            self._tally.instants_caught_up += snapshot.time < instant
            yield snapshot

    def _bounded(self, snapshots: Iterator[Snapshot]) -> Iterator[Snapshot]:
        """The same, each before the deadline."""
        while True:
            self._deadline.start()
            try:
                snapshot = next(snapshots, None)
            finally:
                self._deadline.stop()
            if snapshot is None:
                return
            yield snapshot

    def _prime(self, instant: float) -> None:
        """Replay history through a new detector, and nothing else: it then judges as if it had always watched."""
        detector = self._new_detector()
        try:
            detector.recall(self._state.incidents_since(instant - REMEMBERED_SECONDS))
        except StateError as error:  # costs memory, never correctness
            self._tally.state_errors += 1
            _log.error("earlier incidents not recalled", error=str(error))
        for first, last in self._history(instant):
            for snapshot in self._bounded(self._source.snapshots(first, last, self._instants.tick_seconds)):
                if snapshot.time not in self._hung:
                    self._judge(detector, snapshot, self._surroundings(snapshot))
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
        if snapshot.newest_sample is not None:
            self._seen = self._instants.within(snapshot.newest_sample, snapshot.newest_sample)[1]
        assert self._detector is not None  # noqa: S101 (primed in _pending)
        started = self._monotonic()
        detector, surroundings = self._detector, self._surroundings(snapshot)
        assessment = self._judge(detector, snapshot, surroundings)
        changes = self.tracker.step(assessment, surroundings)
        self._log_changes(changes)
        self._count(assessment, changes)
        self._tally.partial_snapshots += snapshot.quality.partial
        self._tally.malformed_series += snapshot.quality.malformed_series
        if snapshot.quality.partial:
            _log.warning("partial answer", warnings=snapshot.quality.warnings)
        if snapshot.quality.notes != self._notes:
            self._notes = snapshot.quality.notes
            _log.warning("left out", notes=self._notes)
        self._unsaved.update({i.id: i for i in (*changes.opened, *changes.ongoing, *changes.ended, *changes.noted)})
        self._tally.ticks[Outcome.OK] += 1
        seconds += self._monotonic() - started
        _log.debug("tick", instant=snapshot.time, findings=len(assessment.findings), seconds=round(seconds, 3))
        self._tally.last_good = GoodTick(snapshot.time, self._monotonic())
        record = TickRecord(snapshot.time, Outcome.OK, seconds, len(assessment.findings))
        errors = self._record(record, surroundings.freezes)
        # Only now: what has been sent is known again after a kill, with the start that it was sent with.
        self._dispatch.update(changes)
        self._show(Look(snapshot, assessment, detector.lateness, tuple(self._dispatch.incidents())))
        return errors

    def _judge(self, detector: Detector, snapshot: Snapshot, surroundings: Surroundings) -> Assessment:
        """Before the deadline. A detector that hung is not used again, nor does another look at what it hung at."""
        self._deadline.start()
        try:
            return detector.step(snapshot, surroundings.frozen)
        except Abandoned:
            self._detector = None
            self._hung.append(snapshot.time)
            raise
        finally:
            self._deadline.stop()

    def _count(self, assessment: Assessment, changes: Changes) -> None:
        self._tally.opened.update(each.culprit.verdict for each in changes.opened)
        self._tally.silenced.update(each.culprit.verdict for each in changes.silenced)
        # A state that nobody is in any more is 0, not gone.
        self._tally.communicators = {
            **dict.fromkeys(self._tally.communicators, 0),
            **Counter(assessment.states.values()),
        }

    def _fail(self, instant: float, outcome: Outcome, error: Exception, seconds: float) -> list[Exception]:
        self._tally.ticks[outcome] += 1
        return self._record(TickRecord(instant, outcome, seconds, 0, str(error)))

    def _record(self, tick: TickRecord, freezes: Sequence[Freeze] = ()) -> list[Exception]:
        """A state that cannot be written stops nothing: what it lacks is written with the next tick that can."""
        self._tally.tick_seconds.observe(tick.duration_seconds)
        try:
            self._write(tick, freezes)
        except StateError as error:
            self._tally.state_errors += 1
            _log.error("state not written", error=str(error))
            return [error]
        self._unsaved.clear()
        return []

    def _write(self, tick: TickRecord, freezes: Sequence[Freeze]) -> None:
        try:
            self._state.record(tick, self._unsaved.values(), self._keep_ticks, freezes)
        except BrokenStateError as error:
            _log.error("the state is broken: a new one is made", error=str(error), moved_to=str(self._state.renew()))
            self._tally.state_errors += 1
            self._unsaved = {incident.id: incident for incident in self._dispatch.incidents()} | self._unsaved
            self._state.record(tick, self._unsaved.values(), self._keep_ticks, freezes)

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
                    ranks=known_ranks(culprit.ranks),
                    node=culprit.node,
                    gpu=culprit.gpu,
                    cost_ratio=round(incident.cost_ratio, 4),
                )
