"""A sink without a server."""

from collections.abc import Sequence

from sentinel.sink.alert import Alert
from sentinel.sink.interface import Delivery, Receipt


class RecordingSink:
    """Keeps what it is sent, by delivery; answers `receipt`."""

    def __init__(self) -> None:
        self.sent: list[list[Alert]] = []
        self.receipt = Receipt.ACCEPTED

    def send(self, alerts: Sequence[Alert]) -> tuple[Delivery, ...]:
        self.sent.append(list(alerts))
        error = "" if self.receipt is Receipt.ACCEPTED else "it is down"
        return (Delivery("http://recorder", self.receipt, error),)
