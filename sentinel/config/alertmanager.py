"""The `[alertmanager]` section."""

import re
import string
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

from sentinel.config.access import AccessSettings, ServerUrl
from sentinel.model.duration import Duration

__all__ = ["TEMPLATE_FIELDS", "AlertmanagerSettings"]

TEMPLATE_FIELDS = ("alertname", "comm", "comm_name", "gpu", "id", "job_id", "node", "rank", "tier", "verdict")
"""What may stand in braces in `runbook_url` and `dashboard_url`."""

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OWN_LABELS = frozenset(
    ("alertname", "severity", "tier", "job_id", "comm", "comm_name", "node", "gpu", "rank", "heartbeat", "instance")
)


def _template(text: str) -> str:
    try:
        fields = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
        text.format_map(dict.fromkeys(fields, ""))
    except (ValueError, LookupError, AttributeError) as error:
        raise ValueError(f"not a template: {error}") from None
    unknown = sorted(fields - set(TEMPLATE_FIELDS))
    if unknown:
        raise ValueError(f"{{{unknown[0]}}} is not known; known are {', '.join(TEMPLATE_FIELDS)}")
    return text


def _external_labels(labels: dict[str, str]) -> dict[str, str]:
    for name in labels:
        if not _LABEL.fullmatch(name):
            raise ValueError(f"{name!r} is not a label name: letters, digits and _, no digit first")
        if name in _OWN_LABELS:
            raise ValueError(f"{name} is a label of the alerts themselves; choose another name")
    return labels


Template = Annotated[str, AfterValidator(_template)]


class AlertmanagerSettings(AccessSettings):
    """Where alerts go, and what they carry."""

    urls: tuple[ServerUrl, ...] = Field(
        default=("http://127.0.0.1:9093",),
        description="Address of every replica: each is sent every alert. Empty: alerts are only kept and printed.",
    )
    timeout: Duration = Field(
        default=timedelta(seconds=5), gt=timedelta(0), description="How long one delivery may take."
    )
    resend: Duration = Field(
        default=timedelta(minutes=1), gt=timedelta(0), description="How often firing alerts are sent again."
    )
    heartbeat: bool = Field(
        default=True,
        description="Send an alert that always fires, NcclSentinelHeartbeat, for Alertmanager to route back to the "
        "daemon's webhook: that alerts get through then shows as a metric.",
    )
    external_labels: Annotated[dict[str, str], AfterValidator(_external_labels)] = Field(
        default={}, description='Labels added to every alert, as in { cluster = "a" }.'
    )
    runbook_url: Template | None = Field(
        default=None,
        description="Address of the runbook, with fields in braces, as in https://wiki.example/{alertname}. "
        f"Fields: {', '.join(TEMPLATE_FIELDS)}.",
    )
    dashboard_url: Template | None = Field(default=None, description="Address of a dashboard, with the same fields.")
