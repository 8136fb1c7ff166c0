"""What the daemon knows besides the series: alerts of others from its webhook, silences from Alertmanager."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from sentinel.config.settings import Settings
from sentinel.daemon.silence_watch import SilenceWatch
from sentinel.daemon.tally import Tally
from sentinel.incident.context_reader import ContextReader
from sentinel.incident.surroundings import Surroundings
from sentinel.model.snapshot import Snapshot
from sentinel.web.context import Context

__all__ = ["SurroundingsWatch", "nothing_known"]


def nothing_known(_: Snapshot) -> Surroundings:
    """For who has no webhook, and does not run for long enough to be told of silences."""
    return Surroundings()


class SurroundingsWatch:
    """Asks Alertmanager while it is entered. ConfigError when a TLS file cannot be used. `clock` gives Unix time."""

    def __init__(self, settings: Settings, context: Context, tally: Tally, clock: Callable[[], float]) -> None:
        self._context = context
        self._tally = tally
        self._clock = clock
        self._reader = ContextReader(settings.context)
        self._silences = SilenceWatch(settings.alertmanager, tally.count_silence_read)

    def __enter__(self) -> Self:
        self._silences.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._silences.__exit__(kind, error, trace)

    def at(self, snapshot: Snapshot) -> Surroundings:
        """What is known at the snapshot's instant, as far as it has been heard of by now."""
        surroundings = self._reader.read(self._context.firing(self._clock()), snapshot, self._silences.latest())
        self._tally.context_effects = self._reader.counts()
        return surroundings
