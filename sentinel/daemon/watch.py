"""One configuration in force: everything that is built from it, until it stops or another takes its place."""

from collections.abc import Callable
from contextlib import ExitStack

import structlog

from sentinel.config.dialect import refused_notes
from sentinel.config.settings import Settings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.cycle import Cycle, Report
from sentinel.daemon.dispatch import RESOLVED_SECONDS, Dispatch
from sentinel.daemon.front import Front
from sentinel.daemon.home import Home
from sentinel.daemon.instants import Instants
from sentinel.daemon.learnt import LearntBaseline, load_baseline
from sentinel.daemon.log import configure_log
from sentinel.daemon.resender import Resender
from sentinel.daemon.surroundings import SurroundingsWatch, nothing_known
from sentinel.daemon.tally import Tally
from sentinel.detect.detector import Detector
from sentinel.errors import StateError
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident
from sentinel.sink.alert import AlertWriter
from sentinel.sink.alertmanager import AlertmanagerSink
from sentinel.source.interface import Source
from sentinel.source.opening import open_source
from sentinel.state.store import State
from sentinel.state.tick import Outcome

__all__ = ["Watch"]

_log = structlog.get_logger()

_RESENDS_PER_INTERVAL = 4
_MOST_RESEND_SECONDS = 15.0
_SETTLE_SECONDS = 5.0  # of the ten within which the daemon stops


class Watch:
    """Built whole or not at all: SentinelError when that cannot be. It does nothing before `begin`.

    `before` is what it takes the place of: its incidents go on, whatever the state says, and its directory is kept
    where the configuration names the same. `wake` is called, in any thread, when there is something to collect.
    """

    def __init__(
        self,
        settings: Settings,
        tally: Tally,
        clock: SteadyClock,
        front: Front | None = None,
        alive: Callable[[], None] = lambda: None,
        wake: Callable[[], None] = lambda: None,
        before: "Watch | None" = None,
    ) -> None:
        self.settings = settings
        self.instants = Instants(settings.schedule)
        self._tally = tally
        self._clock = clock
        tick_seconds = self.instants.tick_seconds
        resend_seconds = settings.alertmanager.resend.total_seconds()
        with ExitStack() as undo:
            if before is not None and before.home.directory.resolve() == settings.state.directory.resolve():
                home = before.home
            else:
                home = Home(settings.state.directory, tally.count_state_error)
                undo.callback(home.close)
            self.home: Home = home
            state = self.home.state
            parts = undo.enter_context(ExitStack())
            source: Source = parts.enter_context(open_source(settings.prometheus, tally.count_source_request))
            sink = parts.enter_context(AlertmanagerSink(settings.alertmanager, wake))
            _not_before_last_tick(clock, state)
            now = clock()
            carried, unsaved = _carried(before, self.home)
            known = {each.id: each for each in self.home.incidents_since(now - RESOLVED_SECONDS)} | carried
            recent = self.home.incidents_since(now - settings.detection.reopen_within.total_seconds())
            self._learnt = _load_baseline(state, now)
            # One tick alone hears of nothing but its series.
            self._around = SurroundingsWatch(settings, front.context, tally, clock) if front else None
            writer = AlertWriter(settings.alertmanager, settings.prometheus, tick_seconds)
            # One tick alone is no daemon whose silence would mean something.
            heartbeat = front.heartbeat(settings, tick_seconds) if front else None
            self.dispatch = Dispatch(writer, sink, known.values(), resend_seconds, tick_seconds, heartbeat)
            self._resender = Resender(
                self.dispatch, min(resend_seconds / _RESENDS_PER_INTERVAL, _MOST_RESEND_SECONDS), clock
            )
            self.cycle: Cycle = Cycle(
                schedule=settings.schedule,
                source=source,
                new_detector=self._new_detector,
                tracker=IncidentTracker(
                    settings.detection,
                    ({each.id: each for each in recent} | carried).values(),
                    before.cycle.tracker if before else None,
                ),
                dispatch=self.dispatch,
                state=state,
                keep_ticks=settings.state.keep_ticks,
                tally=tally,
                clock=clock,
                alive=alive,
                unsaved=unsaved,
                surroundings=self._around.at if self._around else nothing_known,
                show=front.display.take if front else lambda _: None,
            )
            self._parts = parts.pop_all()
            undo.pop_all()

    def begin(self) -> None:
        """From now on this one is in force."""
        configure_log(self.settings.log)
        self._tally.tick_interval_seconds = self.instants.tick_seconds
        self._tally.baseline_built_at = self._learnt.built_at if self._learnt else None
        self._parts.enter_context(self._resender)
        if self._around is not None:
            self._parts.enter_context(self._around)

    def run(self) -> Report:
        """One tick."""
        return self.cycle.run()

    def settle(self) -> list[Exception]:
        """Wait, not for long, until what is under way is delivered; what went wrong."""
        self.dispatch.settle(min(_SETTLE_SECONDS, self.settings.alertmanager.timeout.total_seconds()))
        return self.cycle.collect()

    def finish(self) -> None:
        """Send what is still due, and end."""
        self.dispatch.send(self._clock())
        self.settle()
        self.close()

    def close(self, successor: "Watch | None" = None) -> None:
        """End; what the successor goes on with stays."""
        self._parts.close()
        if successor is None or successor.home is not self.home:
            self.home.close()

    def _new_detector(self) -> Detector:
        if notes := refused_notes(self.settings.prometheus.dialect):
            _log.warning("metrics that cannot bear every verdict", dialect="inspector", notes=notes)
        return Detector(self.settings.detection, self._learnt.baseline if self._learnt else None)


def _carried(before: Watch | None, home: Home) -> tuple[dict[str, Incident], tuple[Incident, ...]]:
    """The incidents that go on in memory, and those of them that the state does not know."""
    if before is None:
        return {}, ()
    carried = {incident.id: incident for incident in before.dispatch.incidents()}
    same = before.home is home
    return carried, before.cycle.unsaved() if same else tuple(carried.values())


def _not_before_last_tick(clock: SteadyClock, state: State) -> None:
    """A machine that starts with its clock behind would send alerts that have ended already."""
    last = state.last_tick()
    if last is not None and last.outcome is Outcome.OK:
        clock.not_before(last.time)


def _load_baseline(state: State, now: float) -> LearntBaseline | None:
    try:
        return load_baseline(state, ended_by=now)
    except StateError as error:
        _log.error("no baseline: what is normal is learnt on the way", error=str(error))
        return None
