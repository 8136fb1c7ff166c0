"""What the daemon counts about itself."""

from collections import Counter
from dataclasses import dataclass, field

from sentinel.sink.interface import Receipt

__all__ = ["Tally"]


@dataclass
class Tally:
    """Totals since the start. Nothing is lost, skipped or refused without being counted here."""

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
