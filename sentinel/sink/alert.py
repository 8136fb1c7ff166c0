"""An incident as an alert. Labels are identity and never carry a value that changes; numbers go into annotations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.incident import Culprit, FormerTier, Incident, Tier, Verdict
from sentinel.model.instant import format_instant
from sentinel.model.place_rank import known_ranks
from sentinel.sink.description import describe
from sentinel.sink.graph import graph_url

__all__ = ["ALERT_NAMES", "Alert", "AlertWriter", "lifetime_seconds", "summarize"]

ALERT_NAMES = {
    Verdict.LATE_RANK: "NcclRankLate",
    Verdict.SLOW_LINK: "NcclLinkSlow",
    Verdict.SLOW_FABRIC: "NcclFabricSlow",
    Verdict.STALLED: "NcclCommunicatorStalled",
    Verdict.RANK_MISSING: "NcclRankMissing",
    Verdict.DRIFT: "NcclLatencyDrift",
    Verdict.IMBALANCE: "NcclWorkloadImbalanced",
}
_SEVERITIES = {Tier.P0: "critical", Tier.P1: "warning", Tier.P2: "info"}
_PHRASES = {  # about one, about several
    Verdict.LATE_RANK: ("{who} arrives late at collectives", "{who} arrive late at collectives"),
    Verdict.SLOW_LINK: ("{who} sends or receives slowly", "{who} send or receive slowly"),
    Verdict.SLOW_FABRIC: ("the network is slow for {who}",) * 2,
    Verdict.STALLED: ("{who} has stalled", "{who} have stalled"),
    Verdict.RANK_MISSING: ("{who} is gone while its peers wait", "{who} are gone while their peers wait"),
    Verdict.DRIFT: ("{who} is getting slower", "{who} are getting slower"),
    Verdict.IMBALANCE: ("work is unevenly spread over {who}",) * 2,
}


@dataclass(frozen=True)
class Alert:
    """What Alertmanager takes, field by field. Times are RFC 3339."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: str
    ends_at: str
    generator_url: str

    def document(self) -> dict[str, Any]:
        """An element of what POST /api/v2/alerts takes."""
        return {
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
            "startsAt": self.starts_at,
            "endsAt": self.ends_at,
            "generatorURL": self.generator_url,
        }


class AlertWriter:
    """Turns incidents into alerts, as the configuration says."""

    def __init__(self, alertmanager: AlertmanagerSettings, prometheus: PrometheusSettings, tick_seconds: float) -> None:
        self._alertmanager = alertmanager
        self._prometheus = prometheus
        self._lifetime_seconds = lifetime_seconds(alertmanager, tick_seconds)

    def write(self, incident: Incident, now: float) -> Alert:
        """The alert for an incident, firing or resolved, as of the Unix time `now`."""
        culprit = incident.culprit
        # Where our clock is behind, the start stays the start, and what goes on does not end before it was found.
        ends_at = max(now, incident.detected_at) + self._lifetime_seconds
        if incident.ended_at is not None:
            ends_at = max(min(incident.ended_at, now), incident.started_at)
        labels = self._labels(incident)
        return Alert(
            labels=labels,
            annotations=self._annotations(incident, labels["alertname"]),
            starts_at=format_instant(incident.started_at),
            ends_at=format_instant(ends_at),
            generator_url=graph_url(culprit, self._prometheus),
        )

    def write_former(self, incident: Incident, former: FormerTier, now: float) -> Alert:
        """The alert that the incident had before its tier rose, resolved: a tier is a label, and so another alert."""
        alert = self.write(replace(incident, tier=former.tier, ended_at=former.until), now)
        later = (
            f"It goes on as {incident.tier.value}."
            if incident.ended_at is None
            else f"It was {incident.tier.value} then."
        )
        return replace(alert, annotations={**alert.annotations, "description": f"{later} {describe(incident)}"})

    def _labels(self, incident: Incident) -> dict[str, str]:
        culprit = incident.culprit
        labels = {
            **self._alertmanager.external_labels,
            "alertname": ALERT_NAMES[culprit.verdict],
            "severity": _SEVERITIES[incident.tier],
            "tier": incident.tier.value,
            "job_id": culprit.job_id,
            # Without a job id it is the largest communicator that tells jobs apart.
            "comm": "" if culprit.job_id else culprit.job,
            "comm_name": culprit.comm_name,
            "node": culprit.node,
            "gpu": culprit.gpu,
            "rank": ",".join(str(rank) for rank in known_ranks(culprit.ranks)),
        }
        return {name: value for name, value in labels.items() if value}

    def _annotations(self, incident: Incident, alert_name: str) -> dict[str, str]:
        annotations = {"summary": summarize(incident), "description": describe(incident), "incident": incident.id}
        fields = {**_template_fields(incident), "alertname": alert_name}
        quoted = {name: quote(value, safe="") for name, value in fields.items()}
        for name, template in (
            ("runbook_url", self._alertmanager.runbook_url),
            ("dashboard_url", self._alertmanager.dashboard_url),
        ):
            if template:
                annotations[name] = template.format_map(quoted)
        return annotations


def lifetime_seconds(alertmanager: AlertmanagerSettings, tick_seconds: float) -> float:
    """How long an alert fires that is not sent again: Alertmanager takes it after four deliveries that we are gone."""
    return 4.0 * max(tick_seconds, alertmanager.resend.total_seconds())


def summarize(incident: Incident) -> str:
    """One line: who, what, in which job."""
    culprit = incident.culprit
    place = " ".join(
        part for part in (culprit.node and f"on {culprit.node}", culprit.gpu and f"GPU {culprit.gpu}") if part
    )
    who = _who(culprit)
    if place:
        who = f"{who} ({place})" if known_ranks(culprit.ranks) or not culprit.ranks else f"{who} {place}"
    job = f" in job {culprit.job_id}" if culprit.job_id else ""
    text = _PHRASES[culprit.verdict][len(culprit.ranks) > 1].format(who=who) + job
    return text[:1].upper() + text[1:]


def _who(culprit: Culprit) -> str:
    if not culprit.ranks:
        return f"communicator {culprit.comm_name or culprit.comm}"
    if not known_ranks(culprit.ranks):
        return "the process" if len(culprit.ranks) == 1 else f"{len(culprit.ranks)} processes"
    shown = ", ".join(str(rank) for rank in culprit.ranks[:8])
    more = f" and {len(culprit.ranks) - 8} more" if len(culprit.ranks) > 8 else ""
    return f"rank {shown}" if len(culprit.ranks) == 1 else f"ranks {shown}{more}"


def _template_fields(incident: Incident) -> dict[str, str]:
    culprit = incident.culprit
    return {
        "comm": culprit.comm,
        "comm_name": culprit.comm_name,
        "gpu": culprit.gpu,
        "id": incident.id,
        "job_id": culprit.job_id,
        "node": culprit.node,
        "rank": ",".join(str(rank) for rank in known_ranks(culprit.ranks)),
        "tier": incident.tier.value,
        "verdict": culprit.verdict.value,
    }
