# SPDX-License-Identifier: Apache-2.0
"""Panels about the daemon: whether it looks, whether it is heard, and how it fares."""

from typing import Final

from nccl_endpoint.family import MetricFamily

from nccl_dashboards.about import About, age, gauge, rate
from nccl_dashboards.panel import Column, Panel, Query, stat, table, timeseries
from nccl_dashboards.promql import QUANTILES, all_rates, on_targets
from sentinel.web import catalogue

__all__ = ["ITSELF", "LOOKING", "TELLING"]


def _counter(title: str, family: MetricFamily, width: int = 8) -> Panel:
    """A counter of each daemon, by its own labels."""
    called = " ".join(f"{{{{{label}}}}}" for label in (*family.labels, "instance"))
    return timeseries(title, rate(family), Query(all_rates(family, (*family.labels, "instance")), called), width=width)


def _quantiles(title: str, family: MetricFamily, width: int = 8) -> Panel:
    """A histogram of all daemons together."""
    buckets = all_rates(family, ("le",))
    queries = (Query(f"histogram_quantile({value}, {buckets})", name) for name, value in QUANTILES.items())
    return timeseries(title, gauge(family), *queries, width=width)


def _ago(title: str, family: MetricFamily, by: str = "instance") -> Panel:
    """How long a time is ago; never, where it has not come."""
    name = on_targets(family.name)
    labels = (by,) if by == "instance" else (by, "instance")
    called = " ".join(f"{{{{{label}}}}}" for label in labels)
    return stat(title, age(family), Query(f"time() - ({name} > 0)", called), width=6, absent="never")


_SKIPS = {
    "missed": catalogue.RUNS_MISSED,
    "skipped": catalogue.RUNS_SKIPPED,
    "caught up": catalogue.CAUGHT_UP,
    "given up": catalogue.GIVEN_UP,
}
_REFUSED_CONFIGURATION = (catalogue.RELOAD_SUCCESSFUL, catalogue.WEB_RELOAD)

LOOKING: Final = (
    _ago("Last tick", catalogue.LAST_TICK),
    stat(
        "Between ticks",
        gauge(catalogue.TICK_INTERVAL),
        Query(on_targets(catalogue.TICK_INTERVAL.name), "{{instance}}"),
        width=6,
    ),
    _ago("Baseline", catalogue.BASELINE_BUILT),
    table(
        "Version",
        About("short", catalogue.BUILD_INFO.help),
        {"version": "Version", "daemon": "Daemon", "instance": "Instance"},
        (
            Column(
                "Daemons", "short", f"count by (version, daemon, instance) ({on_targets(catalogue.BUILD_INFO.name)})"
            ),
        ),
        width=6,
        height=4,
    ),
    _counter("Ticks", catalogue.TICKS),
    _quantiles("Time of a tick", catalogue.TICK_DURATION),
    timeseries(
        "Instants not looked at in time",
        About("cps", " ".join(f"{name.capitalize()}: {family.help}" for name, family in _SKIPS.items())),
        *(Query(all_rates(family, ("instance",)), f"{name} {{{{instance}}}}") for name, family in _SKIPS.items()),
        width=8,
    ),
    _counter("Requests to the store", catalogue.SOURCE_REQUESTS),
    _quantiles("Time of a request to the store", catalogue.SOURCE_DURATION),
    timeseries(
        "Answers that are not whole",
        About("cps", f"Partial: {catalogue.PARTIAL.help} Malformed: {catalogue.MALFORMED.help}"),
        Query(all_rates(catalogue.PARTIAL, ("instance",)), "partial {{instance}}"),
        Query(all_rates(catalogue.MALFORMED, ("instance",)), "malformed {{instance}}"),
        width=8,
    ),
)

TELLING: Final = (
    _ago("Last whole delivery", catalogue.DELIVERED, "alertmanager"),
    _ago("Heartbeat sent", catalogue.HEARTBEAT_SENT),
    _ago("Heartbeat came back", catalogue.HEARTBEAT_RECEIVED),
    stat(
        "Alerts of others",
        gauge(catalogue.CONTEXT_ALERTS),
        Query(on_targets(catalogue.CONTEXT_ALERTS.name), "{{instance}}"),
        width=6,
    ),
    _counter("Deliveries", catalogue.DELIVERIES, 12),
    _counter("Questions about silences", catalogue.SILENCE_READS, 12),
    _counter("Notifications", catalogue.WEBHOOK_REQUESTS),
    _counter("Alerts of others not kept", catalogue.CONTEXT_DROPPED),
    _counter("Requests refused", catalogue.WEB_REFUSED),
)

ITSELF: Final = (
    stat(
        "Configurations",
        About("short", " ".join(family.help for family in _REFUSED_CONFIGURATION)),
        Query(on_targets(catalogue.RELOAD_SUCCESSFUL.name), "configuration {{instance}}"),
        Query(on_targets(catalogue.WEB_RELOAD.name), "web configuration {{instance}}"),
        width=12,
        bad="below 1",
    ),
    _ago("Configuration", catalogue.RELOAD_SUCCESS),
    stat("State", gauge(catalogue.STATE_BYTES), Query(on_targets(catalogue.STATE_BYTES.name), "{{instance}}"), width=6),
    _counter("Configurations read again", catalogue.RELOADS),
    _counter("State not written", catalogue.STATE_ERRORS),
    timeseries(
        "CPU",
        About("percentunit", "CPU time of the daemon's process: 100% is one core."),
        Query(
            f"sum by (instance) (rate({on_targets('process_cpu_seconds_total')}[$__rate_interval])"
            f" and on (job, instance) {on_targets(catalogue.BUILD_INFO.name)})",
            "{{instance}}",
        ),
        width=8,
    ),
    timeseries(
        "Memory",
        About("bytes", "Resident memory of the daemon's process."),
        Query(
            f"{on_targets('process_resident_memory_bytes')} and on (job, instance)"
            f" {on_targets(catalogue.BUILD_INFO.name)}",
            "{{instance}}",
        ),
        width=24,
    ),
)
