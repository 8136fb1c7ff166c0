"""What the daemon needs of whatever takes alerts."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sentinel.sink.alert import Alert

__all__ = ["Delivery", "Receipt", "Sink"]


class Receipt(StrEnum):
    """What became of a delivery to one replica."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"  # it took those that it found valid
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    SUPERSEDED = "superseded"  # never begun: a newer one, which carries all that this one did, took its place


@dataclass(frozen=True)
class Delivery:
    """The outcome at one replica. `error` is empty when it took everything."""

    url: str
    receipt: Receipt
    error: str = ""


class Sink(Protocol):
    """Somewhere alerts go. Nothing raises: a failed delivery is an outcome, and is made again at a later tick."""

    def send(self, alerts: Sequence[Alert]) -> None:
        """Hand all of them over for every replica, and return at once."""
        ...

    def outcomes(self) -> tuple[Delivery, ...]:
        """What has become of deliveries since this was asked last."""
        ...

    def settle(self, seconds: float) -> None:
        """Wait until nothing is under way, for that long at most."""
        ...
