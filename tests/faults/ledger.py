"""What people were told, against what was true."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from servers.process import wait_until
from servers.webhook import Webhook

from sentinel.model.incident import Incident
from sentinel.model.instant import parse_instant
from sentinel.sink.alert import AlertWriter


@dataclass(frozen=True)
class Ledger:
    """`truth` are the incidents that a daemon to which nothing happens finds; `receivers` of what each replica says.

    Every fault has the same four questions: was an alert lost, told twice, told to be over while it was not, told with
    another start?
    """

    truth: Sequence[Incident]
    writer: AlertWriter
    receivers: Sequence[Webhook]
    fault: Mapping[str, str]
    """Labels of this fault's alerts: replicas serve many."""

    def told(self, receiver: Webhook) -> dict[frozenset[tuple[str, str]], list[dict[str, Any]]]:
        """Notifications by alert, in the order of their arrival."""
        found = defaultdict(list)
        for alert in list(receiver.alerts):
            if self.fault.items() <= alert["labels"].items():
                found[frozenset(alert["labels"].items())].append(alert)
        return dict(found)

    def wait_for(self, *statuses: str) -> None:
        """Until every replica has told at least so much of every incident."""
        for receiver in self.receivers:
            for incident in self.truth:
                name = self._labels(incident)
                wait_until(
                    lambda receiver=receiver, name=name: len(self.told(receiver).get(name, [])) >= len(statuses),
                    f"{statuses} of {incident.id} told to {receiver.url}",
                )
        self.check(*statuses)

    def check(self, *statuses: str) -> None:
        """0 lost, 0 told twice, 0 falsely over, one start each; nothing but the truth."""
        for receiver in self.receivers:
            told = self.told(receiver)
            assert set(told) <= {self._labels(incident) for incident in self.truth}
            for incident in self.truth:
                alerts = told.get(self._labels(incident), [])
                assert [alert["status"] for alert in alerts] == list(statuses)
                assert {parse_instant(alert["startsAt"]) for alert in alerts} <= {incident.started_at}
                assert {alert["annotations"]["incident"] for alert in alerts} <= {incident.id}
                ends = [parse_instant(alert["endsAt"]) for alert in alerts if alert["status"] == "resolved"]
                assert all(end == incident.ended_at for end in ends)

    def _labels(self, incident: Incident) -> frozenset[tuple[str, str]]:
        return frozenset(self.writer.write(incident, incident.detected_at).labels.items())
