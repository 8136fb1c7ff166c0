"""What the daemon needs of whatever takes alerts."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sentinel.sink.alert import Alert

__all__ = ["Delivery", "Receipt", "Sink"]


class Receipt(StrEnum):
    """What one replica did with what it was sent."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"  # it took those that it found valid
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    BUSY = "busy"  # still occupied with the delivery before


@dataclass(frozen=True)
class Delivery:
    """The outcome at one replica. `error` is empty when it took everything."""

    url: str
    receipt: Receipt
    error: str = ""


class Sink(Protocol):
    """Somewhere alerts go. Sending never raises: a failed delivery is a result, and is made again at a later tick."""

    def send(self, alerts: Sequence[Alert]) -> tuple[Delivery, ...]:
        """Send all of them to every replica; what each did."""
        ...
