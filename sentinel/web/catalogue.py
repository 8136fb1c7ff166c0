"""Every metric of the daemon, once: the page and the table in docs/metrics.md come from here."""

from typing import Final, Literal

from nccl_endpoint.family import MetricFamily, markdown_table

__all__ = ["CATALOGUE", "table"]


def _family(
    name: str, kind: Literal["counter", "gauge", "histogram"], unit: str, text: str, labels: tuple[str, ...] = ()
) -> MetricFamily:
    return MetricFamily(f"nccl_sentinel_{name}", kind, unit, labels, text)


BUILD_INFO: Final = _family(
    "build_info",
    "gauge",
    "",
    "Always 1: which daemon this is; daemon is its heartbeat's instance.",
    ("version", "daemon"),
)
TICKS: Final = _family(
    "ticks_total", "counter", "ticks", "Instants that were looked at, and how that went.", ("outcome",)
)
TICK_DURATION: Final = _family(
    "tick_duration_seconds",
    "histogram",
    "seconds",
    "Time that looking at an instant took, the store's answer included.",
)
LAST_TICK: Final = _family(
    "last_tick_timestamp_seconds",
    "gauge",
    "seconds",
    "The instant that was looked at last and well, Unix time; 0 before.",
)
TICK_INTERVAL: Final = _family(
    "tick_interval_seconds", "gauge", "seconds", "From one instant to the next, as configured."
)
RUNS_MISSED: Final = _family(
    "runs_missed_total", "counter", "runs", "Ticks that the scheduler was too late to start, or never did."
)
RUNS_SKIPPED: Final = _family(
    "runs_skipped_total", "counter", "runs", "Ticks that were not started because the one before was still going on."
)
CAUGHT_UP: Final = _family("instants_caught_up_total", "counter", "instants", "Instants looked at later than planned.")
GIVEN_UP: Final = _family(
    "instants_given_up_total", "counter", "instants", "Instants never looked at: too many had been missed."
)
PARTIAL: Final = _family(
    "partial_snapshots_total", "counter", "snapshots", "Answers of the store that it warned may not be whole."
)
MALFORMED: Final = _family(
    "malformed_series_total", "counter", "series", "Series left out because their labels or values cannot be true."
)
SOURCE_REQUESTS: Final = _family(
    "source_requests_total", "counter", "requests", "Requests to the metrics store, each attempt.", ("outcome",)
)
SOURCE_DURATION: Final = _family(
    "source_request_duration_seconds", "histogram", "seconds", "Time that a request to the store took, answer included."
)
STATE_ERRORS: Final = _family(
    "state_errors_total", "counter", "errors", "Ticks that could not be written to the state."
)
STATE_BYTES: Final = _family("state_bytes", "gauge", "bytes", "Size of the state's database, its log included.")
HISTORY_DROPPED: Final = _family(
    "history_dropped_total",
    "counter",
    "columns",
    "Ticks and bins that the status page lacks, and why.",
    ("reason",),
)
DELIVERIES: Final = _family(
    "alertmanager_deliveries_total",
    "counter",
    "deliveries",
    "Deliveries of alerts, and what each Alertmanager did with them.",
    ("alertmanager", "receipt"),
)
DELIVERED: Final = _family(
    "alertmanager_last_success_timestamp_seconds",
    "gauge",
    "seconds",
    "When each Alertmanager last took a whole delivery, Unix time; 0 until then.",
    ("alertmanager",),
)
SILENCE_READS: Final = _family(
    "silence_reads_total", "counter", "reads", "How asking Alertmanager for silences of our alerts went.", ("outcome",)
)
HEARTBEAT_SENT: Final = _family(
    "heartbeat_last_sent_timestamp_seconds",
    "gauge",
    "seconds",
    "When an Alertmanager last took this daemon's heartbeat, Unix time; 0 until then.",
)
HEARTBEAT_RECEIVED: Final = _family(
    "heartbeat_last_received_timestamp_seconds",
    "gauge",
    "seconds",
    "When this daemon's own heartbeat last came back by the webhook, Unix time; 0 until then.",
)
WEBHOOK_REQUESTS: Final = _family(
    "webhook_requests_total", "counter", "requests", "Answers to requests for the webhook, by status.", ("code",)
)
CONTEXT_ALERTS: Final = _family(
    "context_alerts", "gauge", "alerts", "Firing alerts of others that are kept as context."
)
CONTEXT_DROPPED: Final = _family(
    "context_alerts_dropped_total", "counter", "alerts", "Alerts of others that are not kept, and why.", ("reason",)
)
CONTEXT_EFFECTS: Final = _family(
    "context_alerts_matched",
    "gauge",
    "alerts",
    "Firing alerts of others by what a [[context.match]] makes of them; none: no match, or no place.",
    ("effect",),
)
INCIDENTS: Final = _family("incidents", "gauge", "incidents", "Incidents that go on now.", ("verdict", "tier"))
OPENED: Final = _family(
    "incidents_opened_total", "counter", "incidents", "Incidents that were opened since the start.", ("verdict",)
)
SILENCED: Final = _family(
    "findings_silenced_total",
    "counter",
    "findings",
    "Findings that opened no incident because an alert of others silences their place.",
    ("verdict",),
)
COMMUNICATORS: Final = _family(
    "communicators",
    "gauge",
    "communicators",
    "Communicators at the last instant, by what can be said of them.",
    ("state",),
)
RELOADS: Final = _family("reloads_total", "counter", "reloads", "Configurations that were read again.", ("outcome",))
RELOAD_SUCCESSFUL: Final = _family(
    "config_last_reload_successful", "gauge", "", "0 where the configuration was refused: the one before is in force."
)
RELOAD_SUCCESS: Final = _family(
    "config_last_reload_success_timestamp_seconds", "gauge", "seconds", "When the one in force was read, Unix time."
)
BASELINE_BUILT: Final = _family(
    "baseline_built_timestamp_seconds",
    "gauge",
    "seconds",
    "When the baseline in use was built, Unix time; 0 without.",
)
WEB_REFUSED: Final = _family(
    "web_refused_total", "counter", "requests", "Connections and requests that were not let in, and why.", ("reason",)
)
WEB_RELOAD: Final = _family(
    "web_config_last_reload_successful",
    "gauge",
    "",
    "0 where the web configuration was changed and could not be read: the one before is in force.",
)

CATALOGUE: Final = tuple(value for value in tuple(globals().values()) if isinstance(value, MetricFamily))


def table() -> str:
    """The catalogue as a Markdown table, a line for each family."""
    return markdown_table(CATALOGUE)


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201
