"""The daemon: built from its configuration, ticking until it is told to stop."""

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import structlog

from sentinel.config.settings import Settings
from sentinel.daemon.clock import SteadyClock, boot_seconds
from sentinel.daemon.cycle import Report
from sentinel.daemon.front import Front
from sentinel.daemon.heap import share_heap
from sentinel.daemon.inbox import Inbox, Mail, coalesce_reloads
from sentinel.daemon.log import configure_log
from sentinel.daemon.notify import Notifier
from sentinel.daemon.pace import Pace
from sentinel.daemon.tally import Tally
from sentinel.daemon.timetable import Timetable
from sentinel.daemon.watch import Watch

__all__ = ["run_forever", "run_once"]

_log = structlog.get_logger()


class _Stopped(BaseException):
    """Raised in the main thread by SIGTERM or SIGINT, wherever it waits."""


def run_once(settings: Settings, clock: Callable[[], float]) -> Report:
    """One tick."""
    configure_log(settings.log)
    watch = Watch(settings, Tally(), SteadyClock(clock))
    try:
        report = watch.run()
        errors = watch.settle()
    finally:
        watch.close()
    return Report(report.open_incidents, report.error or next(iter(errors), None))


def run_forever(
    settings: Settings,
    reread: Callable[[], Settings],
    clock: Callable[[], float],
    elapsed: Callable[[], float] = boot_seconds,
) -> None:
    """Tick until SIGTERM or SIGINT; on SIGHUP take the configuration that `reread` gives.

    `clock` gives Unix time as the machine thinks it is, `elapsed` seconds that only grow. SentinelError when it cannot
    be built; once it runs, it goes on.
    """
    share_heap()
    configure_log(settings.log)
    notifier = Notifier(os.environ)
    inbox: Inbox = queue.SimpleQueue()
    steady = SteadyClock(clock, elapsed)
    tally = Tally(reloaded_at=steady())
    with _signals(inbox), Front(settings, tally, steady) as front:
        _Service(settings, reread, steady, inbox, tally, front, notifier).run()


class _Service:
    """The main thread's work. One configuration is always in force."""

    def __init__(
        self,
        settings: Settings,
        reread: Callable[[], Settings],
        clock: SteadyClock,
        inbox: Inbox,
        tally: Tally,
        front: Front,
        notifier: Notifier,
    ) -> None:
        self._reread = reread
        self._clock = clock
        self._inbox = inbox
        self._tally = tally
        self._front = front
        self._notifier = notifier
        self._watch = self._build(settings, None)
        self._pace = Pace(self._watch.instants.tick_seconds, time.monotonic)
        self._timetable: Timetable | None = None

    def run(self) -> None:
        """Until it is told to stop."""
        try:
            self._begin()
            while True:
                self._turn()
        except _Stopped:
            self._notifier.stopping()
            _log.info("stopping")
        finally:
            if self._timetable is not None:
                self._timetable.stop()
            self._watch.finish()

    def _build(self, settings: Settings, before: Watch | None) -> Watch:
        def wake() -> None:
            self._inbox.put(Mail.DELIVERED)

        return Watch(settings, self._tally, self._clock, self._front, self._notifier.alive, wake, before)

    def _begin(self) -> None:
        """With the configuration that is in force now."""
        settings, tick_seconds = self._watch.settings, self._watch.instants.tick_seconds
        self._watch.begin()
        _log.info(
            "watching",
            prometheus=settings.prometheus.url,
            alertmanagers=settings.alertmanager.urls,
            state=str(settings.state.directory),
            tick_seconds=tick_seconds,
        )
        if not settings.alertmanager.urls:
            _log.warning("alertmanager.urls is empty: incidents are only kept, nobody is told")
        # Before the first tick: a Prometheus that is down keeps no daemon from starting.
        self._notifier.ready(f"watching {settings.prometheus.url}")
        self._pace = Pace(tick_seconds, time.monotonic)
        self._tick()
        self._schedule()

    def _turn(self) -> None:
        """Wait for what there is to do, and do it."""
        if self._pace.keeps:
            self._notifier.alive()
        if self._pace.lost:
            # The scheduler's thread is dead, or waits for a time that the machine's clock was set away from.
            _log.error("no tick has come in time: the timetable is set up anew")
            self._tally.runs_missed += 1
            self._tick()
            self._schedule()
        try:
            mail = self._inbox.get(timeout=self._pace.wait_seconds(self._notifier.beat_seconds))
        except queue.Empty:
            return
        if mail is Mail.RELOAD:
            self._reload()
        elif mail is Mail.DELIVERED:
            self._watch.cycle.collect()
        else:
            self._tick()
            mail.set()

    def _tick(self) -> None:
        self._watch.run()
        self._pace.ticked()

    def _schedule(self) -> None:
        if self._timetable is not None:
            self._timetable.stop()
        instants, now = self._watch.instants, self._clock()
        delay_seconds = instants.due(instants.after(instants.latest(now))) - now
        self._timetable = Timetable(delay_seconds, instants.tick_seconds, self._tally, self._inbox)
        self._timetable.start()

    def _reload(self) -> None:
        """Go on with another configuration, or with the old one where that cannot be built, whatever the reason."""
        self._notifier.reloading()
        coalesce_reloads(self._inbox)
        try:
            settings = self._reread()
            successor = self._build(settings, self._watch)
            try:
                self._front.follow(settings)
            except BaseException:
                successor.close(self._watch)
                raise
        except Exception as error:
            self._tally.reloads["refused"] += 1
            self._tally.reload_succeeded = False
            _log.error("configuration not reloaded: the old one stays", error=str(error))
            self._notifier.ready("the configuration was refused: the old one stays")
            return
        before, self._watch = self._watch, successor
        before.close(successor)
        self._tally.reloads["taken"] += 1
        self._tally.reload_succeeded, self._tally.reloaded_at = True, self._clock()
        _log.info("configuration reloaded")
        self._begin()


@contextmanager
def _signals(inbox: Inbox) -> Iterator[None]:
    def stop(number: int, _: FrameType | None) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)  # ending does not get interrupted
        raise _Stopped(number)

    def reload(_number: int, _frame: FrameType | None) -> None:
        inbox.put(Mail.RELOAD)

    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: reload}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    except _Stopped:  # before anything was built
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
