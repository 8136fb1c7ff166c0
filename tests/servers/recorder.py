"""A sink without a server."""

from collections.abc import Sequence

from sentinel.sink.alert import Alert
from sentinel.sink.interface import Delivery, Receipt


class RecordingSink:
    """Keeps what it is sent, by delivery; answers `receipt`, at once."""

    def __init__(self) -> None:
        self.sent: list[list[Alert]] = []
        self.receipt = Receipt.ACCEPTED
        self._outcomes: list[Delivery] = []

    def send(self, alerts: Sequence[Alert]) -> None:
        self.sent.append(list(alerts))
        error = "" if self.receipt is Receipt.ACCEPTED else "it is down"
        self._outcomes.append(Delivery("http://recorder", self.receipt, error))

    def outcomes(self) -> tuple[Delivery, ...]:
        outcomes, self._outcomes = tuple(self._outcomes), []
        return outcomes

    def settle(self, seconds: float) -> None:
        pass
