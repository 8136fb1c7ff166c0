"""Which alerts are sent when."""

import threading
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

    They are sent when one opens, ends, comes back or rises a tier, every `resend_seconds`, and again when a replica
    did not take them. A `heartbeat` goes with every delivery, and makes one also when there is nothing to say. For
    several threads.
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
        self._resend_seconds = resend_seconds
        self._tick_seconds = tick_seconds
        self._over: dict[str, float] = {}  # by incident that ended: when it was first told
        self._sent_at: float | None = None
        self._failed = False  # one replica at least did not take what was sent last
        self._lock = threading.Lock()

    @property
    def has_heartbeat(self) -> bool:
        """Whether every delivery carries one."""
        return self._heartbeat is not None

    def incidents(self) -> list[Incident]:
        """All that it keeps."""
        with self._lock:
            return list(self._incidents.values())

    def open(self) -> list[Incident]:
        """The incidents that go on."""
        return [incident for incident in self.incidents() if incident.ended_at is None]

    def update(self, changes: Changes) -> None:
        """Take what one tick did."""
        with self._lock:
            for incident in (*changes.opened, *changes.ongoing, *changes.ended, *changes.noted):
                self._incidents[incident.id] = incident
            if changes.opened or changes.ended or changes.reopened or changes.raised:
                self._sent_at = None

    def send(self, now: float) -> bool:
        """At a tick: hand over what is due at the Unix time `now`, or was not taken; whether anything was."""
        # Ticks jitter by milliseconds; without slack every second resend would come a tick late.
        slack_seconds = min(self._tick_seconds, self._resend_seconds) / 2
        with self._lock:
            return (self._failed or self._due(now, self._resend_seconds - slack_seconds)) and self._hand_over(now)

    def resend(self, now: float) -> bool:
        """Between ticks: hand over what no tick has sent in time; whether anything was."""
        with self._lock:
            return self._due(now, self._resend_seconds) and self._hand_over(now)

    def outcomes(self) -> tuple[Delivery, ...]:
        """What has become of deliveries since this was asked last."""
        deliveries = self._sink.outcomes()
        # What was superseded was not refused: what took its place says more.
        if any(delivery.receipt not in TAKEN | {Receipt.SUPERSEDED} for delivery in deliveries):
            with self._lock:
                self._failed = True
        return deliveries

    def settle(self, seconds: float) -> None:
        """Wait until nothing is under way, for that long at most."""
        self._sink.settle(seconds)

    def _due(self, now: float, after_seconds: float) -> bool:
        return self._sent_at is None or not 0.0 <= now - self._sent_at < after_seconds

    def _hand_over(self, now: float) -> bool:
        # An end may lie long back when it is found: ticks are long, or were caught up.
        ended = [id_ for id_, incident in self._incidents.items() if incident.ended_at is not None]
        self._over = {id_: self._over.get(id_, now) for id_ in ended}
        for id_ in ended:
            if now - self._over[id_] > RESOLVED_SECONDS:
                del self._incidents[id_]
        if not self._incidents and self._heartbeat is None:
            return False
        self._sink.send(self._alerts(now))
        self._sent_at, self._failed = now, False
        return True

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
