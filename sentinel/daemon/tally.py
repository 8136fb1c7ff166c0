"""What the daemon counts about itself."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sentinel.model.incident import Tier, Verdict
from sentinel.sink.interface import Receipt
from sentinel.web.histogram import Histogram

__all__ = ["GoodTick", "Tally"]

# A tick is to take a fraction of a second; one of minutes is late for the next.
_REQUEST_BOUNDS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TICK_BOUNDS_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class GoodTick(NamedTuple):
    """A tick that ended well."""

    instant: float  # that was looked at, Unix seconds
    ended: float  # by the monotonic clock


@dataclass
class Tally:
    """Totals since the start. Nothing is lost, skipped or refused without being counted here.

    The main thread and the scheduler's write, the web server's read: without a lock, so what is replaced is replaced
    whole, and no dictionary that grows is gone through.
    """

    ticks: Counter[str] = field(default_factory=Counter)  # by outcome
    runs_missed: int = 0  # the scheduler was too late to start them
    runs_skipped: int = 0  # the one before was still going on
    instants_caught_up: int = 0  # looked at later than planned
    instants_given_up: int = 0  # too many were missed to look at all
    partial_snapshots: int = 0  # the server warned that its answer may not be whole
    malformed_series: int = 0
    state_errors: int = 0
    deliveries: Counter[tuple[str, Receipt]] = field(default_factory=Counter)  # by replica and what it did
    reloads: Counter[str] = field(default_factory=Counter)  # by outcome
    opened: Counter[Verdict] = field(default_factory=Counter)
    silenced: Counter[Verdict] = field(default_factory=Counter)  # findings that an alert of others kept from opening
    silence_reads: Counter[str] = field(default_factory=Counter)  # by outcome
    source_requests: Counter[str] = field(default_factory=Counter)  # by outcome
    history_dropped: Counter[str] = field(default_factory=Counter)  # what the status page lacks, by reason

    tick_interval_seconds: float = 0.0
    tick_seconds: Histogram = field(default_factory=lambda: Histogram(_TICK_BOUNDS_SECONDS))
    source_request_seconds: Histogram = field(default_factory=lambda: Histogram(_REQUEST_BOUNDS_SECONDS))
    last_good: GoodTick | None = None
    open_incidents: Mapping[tuple[Verdict, Tier], int] = field(default_factory=dict)
    communicators: Mapping[str, int] = field(default_factory=dict)  # by state, at the last instant
    context_effects: Mapping[str, int] = field(default_factory=dict)  # alerts of others by what they do

    # Unix times; None: never.
    delivered_at: dict[str, float] = field(default_factory=dict)  # by replica
    heartbeat_sent_at: float | None = None
    reload_succeeded: bool = True
    reloaded_at: float | None = None
    baseline_built_at: float | None = None

    def count_state_error(self) -> None:
        """The state could not be read or written once more."""
        self.state_errors += 1

    def count_silence_read(self, outcome: str) -> None:
        """Alertmanager was asked for silences once more."""
        self.silence_reads[outcome] += 1

    def count_source_request(self, outcome: str, seconds: float) -> None:
        """One more request to the metrics store."""
        self.source_requests[outcome] += 1
        self.source_request_seconds.observe(seconds)
