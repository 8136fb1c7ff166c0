"""When ticks run: APScheduler on a thread of its own says when, the main thread does the work."""

import threading
from datetime import UTC, datetime, timedelta

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from sentinel.daemon.inbox import Inbox
from sentinel.daemon.tally import Tally

__all__ = ["Timetable"]


class Timetable:
    """Puts an event into `inbox` at every tick, the first in `delay_seconds`.

    The main thread works, so that a signal can interrupt whatever it waits for. A run that comes while the one before
    is still going on is skipped and counted: the tick that follows looks at the instants between.
    """

    def __init__(self, delay_seconds: float, tick_seconds: float, tally: Tally, inbox: Inbox) -> None:
        self._inbox = inbox
        self._tally = tally
        self._done: threading.Event | None = None
        self._scheduler = BackgroundScheduler(timezone=UTC)
        self._scheduler.add_listener(self._count, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
        self._scheduler.add_job(
            self._announce,
            # The scheduler goes by the machine's clock, whatever that says.
            IntervalTrigger(
                seconds=tick_seconds,
                start_date=datetime.now(UTC) + timedelta(seconds=delay_seconds),
                timezone=UTC,
            ),
            misfire_grace_time=max(1, int(tick_seconds)),
            coalesce=True,
            max_instances=1,
        )

    def start(self) -> None:
        """Begin."""
        self._scheduler.start()

    def stop(self) -> None:
        """End; does not wait for the tick that may be going on."""
        self._scheduler.shutdown(wait=False)
        if self._done is not None:
            self._done.set()

    def _announce(self) -> None:
        self._done = threading.Event()
        self._inbox.put(self._done)
        self._done.wait()

    def _count(self, event: JobEvent) -> None:
        if event.code == EVENT_JOB_MISSED:
            self._tally.runs_missed += 1
        else:
            self._tally.runs_skipped += 1
