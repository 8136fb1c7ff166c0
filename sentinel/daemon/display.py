"""What stands behind the status page, as long as the process lives."""

from collections.abc import Callable, Mapping

from nccl_endpoint.page import Page

from sentinel import __version__
from sentinel.config.settings import Settings
from sentinel.daemon.heap import give_back
from sentinel.daemon.tally import Tally
from sentinel.history.look import Look
from sentinel.history.past import Past
from sentinel.history.record import Record
from sentinel.history.recorder import Recorder
from sentinel.history.strip import Span
from sentinel.page.facts import Facts
from sentinel.page.incidents import IncidentBook
from sentinel.page.site import StatusPage
from sentinel.page.store import Store
from sentinel.sink.alert import AlertWriter
from sentinel.web.turn import Turn

__all__ = ["Display"]

_PAGE_SHARE = 0.25  # of the time, for what the page shows of memory


class Display:
    """Takes what ticks see, and gives the page's parts. `fault` says why the daemon is not ready, `clock` Unix time."""

    def __init__(
        self,
        settings: Settings,
        tally: Tally,
        instance: str,
        fault: Callable[[], str],
        clock: Callable[[], float],
    ) -> None:
        self._tally = tally
        self._instance = instance
        self._fault = fault
        self.store = Store(settings.prometheus)
        self._page = StatusPage(self, clock, Turn(_PAGE_SHARE), give_back)
        self._settings = settings
        self._begin(settings)
        self._set(settings)

    @property
    def past(self) -> Past:
        """What there is to show, of memory and of the file."""
        return self._past

    @property
    def record(self) -> Record:
        """What there is in memory."""
        return self._recorder.record

    def pages(self) -> Mapping[str, Page]:
        """By path."""
        return self._page.pages()

    def take(self, look: Look) -> None:
        """What one tick saw; never waits."""
        self._recorder.take(look)

    def settle(self, seconds: float) -> None:
        """Wait until what was seen is recorded, for that long at most."""
        self._recorder.settle(seconds)

    def stop(self) -> None:
        """Keep what waits to be kept."""
        self._recorder.stop()

    def follow(self, settings: Settings) -> None:
        """Go on with another configuration."""
        if settings.state.directory != self._settings.state.directory:
            self._recorder.stop()
            self._begin(settings)
        if settings.prometheus != self._settings.prometheus:
            self.store.configure(settings.prometheus)
        self._set(settings)

    def facts(self) -> Facts:
        """What the daemon knows of itself."""
        tally = self._tally
        return Facts(
            version=__version__,
            instance=self._instance,
            fault=self._fault(),
            tick_seconds=tally.tick_interval_seconds,
            last_tick=tally.last_good.instant if tally.last_good else None,
            baseline_built_at=tally.baseline_built_at,
            partial_snapshots=tally.partial_snapshots,
            malformed_series=tally.malformed_series,
            history_dropped=tally.history_dropped.total(),
            history_bytes=self.record.nbytes,
        )

    def _set(self, settings: Settings) -> None:
        self._settings = settings
        self.record.span = _span(settings)
        self.record.max_bytes = int(settings.page.max_history)
        self.book = IncidentBook(self.record, settings.state.directory)
        self.writer = AlertWriter(settings.alertmanager, settings.prometheus, settings.schedule.tick.total_seconds())
        self.selector = settings.prometheus.selector

    def _begin(self, settings: Settings) -> None:
        record = Record(_span(settings), int(settings.page.max_history), self._tally.history_dropped)
        self._recorder = Recorder(record, settings.state.directory, self._tidy)
        self._past = Past(record, settings.state.directory)

    def _tidy(self) -> None:
        self._page.forget()
        give_back()


def _span(settings: Settings) -> Span:
    return Span(bins_seconds=settings.page.keep.total_seconds())
