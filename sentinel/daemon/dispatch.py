"""Which alerts are sent when."""

from collections.abc import Iterable

from sentinel.incident.tracker import Changes
from sentinel.model.incident import Incident
from sentinel.sink.alert import Alert, AlertWriter
from sentinel.sink.heartbeat import Heartbeat
from sentinel.sink.interface import Delivery, Receipt, Sink

__all__ = ["RESOLVED_SECONDS", "TAKEN", "Dispatch"]

RESOLVED_SECONDS = 15 * 60.0
"""How long an ended incident is sent again as resolved: an Alertmanager that was away hears of it."""

TAKEN = frozenset({Receipt.ACCEPTED, Receipt.PARTIAL})
"""Receipts of a replica that took what it found valid: the rest would be refused again."""


class Dispatch:
    """Keeps the incidents that Alertmanager has to know of: those that go on, and those that ended not long ago.

    They are sent when one opens, ends, comes back or rises a tier, every `resend_seconds`, and at the next tick when a
    replica did not take them. A `heartbeat` goes with every delivery, and makes one also when there is nothing to say.
    """

    def __init__(
        self,
        writer: AlertWriter,
        sink: Sink,
        incidents: Iterable[Incident],
        resend_seconds: float,
        tick_seconds: float,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._writer = writer
        self._sink = sink
        self._heartbeat = heartbeat
        self._incidents = {incident.id: incident for incident in incidents}
        # Ticks jitter by milliseconds; without slack every second resend would come a tick late.
        self._resend_seconds = resend_seconds - tick_seconds / 2
        self._sent_at: float | None = None

    @property
    def has_heartbeat(self) -> bool:
        """Whether every delivery carries one."""
        return self._heartbeat is not None

    def open(self) -> list[Incident]:
        """The incidents that go on."""
        return [incident for incident in self._incidents.values() if incident.ended_at is None]

    def update(self, changes: Changes) -> None:
        """Take what one tick did."""
        for incident in (*changes.opened, *changes.ongoing, *changes.ended):
            self._incidents[incident.id] = incident
        if changes.opened or changes.ended or changes.reopened or changes.raised:
            self._sent_at = None

    def send(self, now: float) -> tuple[Delivery, ...]:
        """Send what is due at the Unix time `now`; what each replica did, or nothing when nothing was due."""
        self._incidents = {
            id_: incident
            for id_, incident in self._incidents.items()
            if incident.ended_at is None or now - incident.ended_at <= RESOLVED_SECONDS
        }
        due = self._sent_at is None or not 0.0 <= now - self._sent_at < self._resend_seconds
        if not due or (not self._incidents and self._heartbeat is None):
            return ()
        deliveries = self._sink.send(self._alerts(now))
        taken = all(delivery.receipt in TAKEN for delivery in deliveries)
        self._sent_at = now if taken else None
        return deliveries

    def _alerts(self, now: float) -> list[Alert]:
        """One alert for each set of labels, which is what Alertmanager knows an alert by.

        One that fires wins over one that is resolved: what started again is not over because it was over before. The
        alert of a tier that an incident had before it rose is resolved, and sent as long as any other that is.
        """
        written: list[tuple[float, Alert]] = []  # with when it ended
        for incident in self._incidents.values():
            over = float("inf") if incident.ended_at is None else incident.ended_at
            written.append((over, self._writer.write(incident, now)))
            written += [
                (former.until, self._writer.write_former(incident, former, now))
                for former in incident.former_tiers
                if now - former.until <= RESOLVED_SECONDS
            ]
        alerts: dict[frozenset[tuple[str, str]], Alert] = {}
        for _, alert in sorted(written, key=lambda each: each[0]):
            alerts[frozenset(alert.labels.items())] = alert
        if self._heartbeat is not None:
            return [*alerts.values(), self._heartbeat.write(now)]
        return list(alerts.values())
