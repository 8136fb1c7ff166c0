"""The process: built from the configuration, run until it is told to stop."""

import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import structlog

from sentinel.config.settings import Settings
from sentinel.daemon.cycle import Cycle, Report
from sentinel.daemon.dispatch import RESOLVED_SECONDS, Dispatch
from sentinel.daemon.front import Front
from sentinel.daemon.instants import Instants
from sentinel.daemon.learnt import load_baseline
from sentinel.daemon.log import configure_log
from sentinel.daemon.notify import Notifier
from sentinel.daemon.tally import Tally
from sentinel.daemon.timetable import Timetable
from sentinel.detect.detector import Detector
from sentinel.errors import ConfigError
from sentinel.incident.tracker import IncidentTracker
from sentinel.sink.alert import AlertWriter
from sentinel.sink.alertmanager import AlertmanagerSink
from sentinel.source.prometheus import PrometheusSource
from sentinel.state.lock import DirectoryLock
from sentinel.state.store import State

__all__ = ["run_forever", "run_once"]

_log = structlog.get_logger()
_Inbox = queue.SimpleQueue[threading.Event | None]
"""A tick that is due (set the event when it is done), or None: read the configuration again."""


class _Stopped(BaseException):
    """Raised in the main thread by SIGTERM or SIGINT, wherever it waits."""


def run_once(settings: Settings, clock: Callable[[], float]) -> Report:
    """One tick."""
    with ExitStack() as stack:
        return _build(settings, stack, Tally(), clock).run()


def run_forever(settings: Settings, reread: Callable[[], Settings], clock: Callable[[], float]) -> None:
    """Tick until SIGTERM or SIGINT; on SIGHUP take the configuration that `reread` gives.

    SentinelError when it cannot be built; once it runs, it goes on.
    """
    inbox: _Inbox = queue.SimpleQueue()
    tally = Tally(reloaded_at=clock())
    replacement: Settings | None = settings
    configure_log(settings.log)
    notifier = Notifier(os.environ)
    with _signals(inbox), Front(settings, tally, clock) as front:
        while replacement is not None:
            replacement = _serve(replacement, reread, inbox, tally, front, notifier, clock)


def _serve(
    settings: Settings,
    reread: Callable[[], Settings],
    inbox: _Inbox,
    tally: Tally,
    front: Front,
    notifier: Notifier,
    clock: Callable[[], float],
) -> Settings | None:
    """Until it is told to stop (None) or to go on with another configuration."""
    instants = Instants(settings.schedule)
    with ExitStack() as stack:
        try:
            cycle = _build(settings, stack, tally, clock, front, notifier.alive)
            _log.info(
                "watching",
                prometheus=settings.prometheus.url,
                alertmanagers=settings.alertmanager.urls,
                state=str(settings.state.directory),
                tick_seconds=instants.tick_seconds,
            )
            if not settings.alertmanager.urls:
                _log.warning("alertmanager.urls is empty: incidents are only kept, nobody is told")
            # Before the first tick: a Prometheus that is down keeps no daemon from starting.
            notifier.ready(f"watching {settings.prometheus.url}")
            cycle.run()
            first = instants.due(instants.after(instants.latest(clock())))
            timetable = Timetable(first, instants.tick_seconds, tally, inbox)
            stack.callback(timetable.stop)
            timetable.start()
            while True:
                notifier.alive()
                try:
                    due = inbox.get(timeout=notifier.beat_seconds)
                except queue.Empty:
                    continue
                if due is not None:
                    cycle.run()
                    due.set()
                    continue
                notifier.reloading()
                if (replacement := _reread(reread, tally, front, clock)) is not None:
                    return replacement
                notifier.ready("the configuration was refused: the old one stays")
        except _Stopped:
            notifier.stopping()
            _log.info("stopping")
            return None


def _build(
    settings: Settings,
    stack: ExitStack,
    tally: Tally,
    clock: Callable[[], float],
    front: Front | None = None,
    alive: Callable[[], None] = lambda: None,
) -> Cycle:
    configure_log(settings.log)
    state = stack.enter_context(State.open(settings.state.directory))
    stack.enter_context(DirectoryLock(settings.state.directory))
    source = stack.enter_context(PrometheusSource(settings.prometheus, tally.count_source_request))
    sink = stack.enter_context(AlertmanagerSink(settings.alertmanager))
    now = clock()
    learnt = load_baseline(state, ended_by=now)
    known = state.incidents_since(now - RESOLVED_SECONDS)
    recent = state.incidents_since(now - settings.detection.reopen_within.total_seconds())
    tick_seconds = Instants(settings.schedule).tick_seconds
    writer = AlertWriter(settings.alertmanager, settings.prometheus, tick_seconds)
    # One tick alone is no daemon whose silence would mean something.
    heartbeat = front.heartbeat(settings, tick_seconds) if front else None
    dispatch = Dispatch(writer, sink, known, settings.alertmanager.resend.total_seconds(), tick_seconds, heartbeat)
    tally.tick_interval_seconds = tick_seconds
    tally.baseline_built_at = learnt.built_at if learnt else None
    return Cycle(
        schedule=settings.schedule,
        source=source,
        new_detector=lambda: Detector(settings.detection, learnt.baseline if learnt else None),
        tracker=IncidentTracker(settings.detection, recent),
        dispatch=dispatch,
        state=state,
        keep_ticks=settings.state.keep_ticks,
        tally=tally,
        clock=clock,
        alive=alive,
    )


def _reread(reread: Callable[[], Settings], tally: Tally, front: Front, clock: Callable[[], float]) -> Settings | None:
    try:
        settings = reread()
        front.follow(settings)
    except ConfigError as error:
        tally.reloads["refused"] += 1
        tally.reload_succeeded = False
        _log.error("configuration not reloaded: the old one stays", error=str(error))
        return None
    tally.reloads["taken"] += 1
    tally.reload_succeeded, tally.reloaded_at = True, clock()
    _log.info("configuration reloaded")
    return settings


@contextmanager
def _signals(inbox: _Inbox) -> Iterator[None]:
    def stop(number: int, _: FrameType | None) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)  # ending does not get interrupted
        raise _Stopped(number)

    def reload(_number: int, _frame: FrameType | None) -> None:
        inbox.put(None)

    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: reload}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    except _Stopped:  # before anything was built
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
