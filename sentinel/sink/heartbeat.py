"""An alert that always fires: that it arrives somewhere shows that others would."""

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.instant import format_instant
from sentinel.sink.alert import Alert, lifetime_seconds

__all__ = ["HEARTBEAT_NAME", "Heartbeat", "heartbeat_identity"]

HEARTBEAT_NAME = "NcclSentinelHeartbeat"


def heartbeat_identity(instance: str) -> dict[str, str]:
    """The labels that tell one daemon's heartbeat from everything else."""
    return {"alertname": HEARTBEAT_NAME, "instance": instance}


class Heartbeat:
    """Of the daemon `instance`, which runs since the Unix time `started_at`.

    `heartbeat="true"` is for routes; nobody is to be woken by it, so its severity is `none`.
    """

    def __init__(
        self,
        instance: str,
        started_at: float,
        alertmanager: AlertmanagerSettings,
        prometheus: PrometheusSettings,
        tick_seconds: float,
    ) -> None:
        self._labels = {
            **alertmanager.external_labels,
            **heartbeat_identity(instance),
            "severity": "none",
            "heartbeat": "true",
        }
        self._starts_at = format_instant(started_at)
        self._generator_url = prometheus.external_url or prometheus.url
        self._lifetime_seconds = lifetime_seconds(alertmanager, tick_seconds)

    def write(self, now: float) -> Alert:
        """As of the Unix time `now`; it ends by itself when no other follows."""
        return Alert(
            labels=self._labels,
            annotations={
                "summary": "nccl-sentinel runs and its alerts arrive",
                "description": "Always fires while the daemon runs. It is no incident: route it back to the daemon's "
                "webhook, and to nobody else.",
            },
            starts_at=self._starts_at,
            ends_at=format_instant(now + self._lifetime_seconds),
            generator_url=self._generator_url,
        )
