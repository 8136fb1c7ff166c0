# SPDX-License-Identifier: Apache-2.0
"""Panels about the exporters, and about the plugin in the jobs of their nodes."""

from typing import Final

from nccl_endpoint.family import MetricFamily
from nccl_exporter import catalogue

from nccl_dashboards.about import About, gauge, rate
from nccl_dashboards.panel import Column, Panel, Query, stat, table, timeseries
from nccl_dashboards.promql import all_rates, on_targets

__all__ = ["EXPORTERS", "PLUGIN", "RAS"]


def _by_label(title: str, family: MetricFamily, note: str = "") -> Panel:
    """A counter, by its own label."""
    (label,) = family.labels
    return timeseries(title, rate(family, note), Query(all_rates(family, (label,)), f"{{{{{label}}}}}"), width=8)


def _total(title: str, family: MetricFamily, width: int = 8) -> Panel:
    """A counter of all targets together."""
    return timeseries(title, rate(family), Query(all_rates(family, ()), "all"), width=width)


_SCRAPES = on_targets(catalogue.SCRAPE_DURATION.name)
_RATIO = on_targets(catalogue.SAMPLING_RATIO.name)
_GOVERNOR = on_targets(catalogue.GOVERNOR.name)

EXPORTERS: Final = (
    table(
        "Versions",
        About("short", catalogue.BUILD_INFO.help),
        {"version": "Version", "layout": "Layout"},
        (Column("Exporters", "short", f"count by (version, layout) ({on_targets(catalogue.BUILD_INFO.name)})"),),
        width=8,
    ),
    timeseries(
        "Scrapes",
        gauge(catalogue.SCRAPE_DURATION),
        Query(f"quantile(0.5, {_SCRAPES})", "median"),
        Query(f"max({_SCRAPES})", "longest"),
        width=8,
    ),
    timeseries(
        "Files",
        gauge(catalogue.SOURCES),
        Query(f"sum by (state) ({on_targets(catalogue.SOURCES.name)})", "{{state}}"),
        width=8,
    ),
    _by_label("Files rejected", catalogue.SOURCES_REJECTED),
    _by_label("Rows rejected", catalogue.ROWS_REJECTED),
    _total("Rows torn", catalogue.ROWS_TORN),
    _by_label("Series not given", catalogue.SERIES_CAPPED),
    _by_label("Requests refused", catalogue.WEB_REFUSED),
    timeseries(
        "Directories unreadable",
        gauge(catalogue.DIRECTORIES_UNREADABLE),
        Query(f"sum({on_targets(catalogue.DIRECTORIES_UNREADABLE.name)})", "all"),
        width=8,
    ),
    stat(
        "Web configuration",
        gauge(catalogue.WEB_RELOAD, "The least of all."),
        Query(f"min({on_targets(catalogue.WEB_RELOAD.name)})", "in force as it stands"),
        width=24,
        bad="below 1",
    ),
)

RAS: Final = (
    _total("Questions", catalogue.RAS_QUERIES, 6),
    *(
        timeseries(title, rate(family), Query(all_rates(family, ("reason",)), "{{reason}}"), width=6)
        for title, family in (
            ("Questions that failed", catalogue.RAS_FAILURES),
            ("Communicators left out", catalogue.RAS_LEFT_OUT),
        )
    ),
    _total("Statuses not given", catalogue.RAS_CAPPED, 6),
)

PLUGIN: Final = (
    timeseries(
        "Measured, of those launched",
        gauge(catalogue.SAMPLING_RATIO, "The median rank's and the smallest, since each communicator's start."),
        Query(f"quantile(0.5, {_RATIO})", "median"),
        Query(f"min({_RATIO})", "smallest"),
        width=8,
    ),
    timeseries(
        "Sampling lowered",
        gauge(catalogue.GOVERNOR, "The median rank's and the largest."),
        Query(f"quantile(0.5, {_GOVERNOR})", "median"),
        Query(f"max({_GOVERNOR})", "largest"),
        width=8,
    ),
    _total("Left out by sampling", catalogue.SKIPPED),
    timeseries(
        "Durations refused",
        rate(catalogue.REFUSED),
        Query(all_rates(catalogue.REFUSED, ("reason",)), "{{reason}}"),
        width=8,
    ),
    _by_label("Events dropped", catalogue.DROPPED),
    _total("Callbacks", catalogue.CALLBACKS),
    timeseries(
        "Time in callbacks",
        rate(catalogue.CALLBACK_SECONDS, "All processes of an exporter together, the 10 largest."),
        Query(f"topk(10, {all_rates(catalogue.CALLBACK_SECONDS, ('instance',))})", "{{instance}}"),
    ),
    timeseries(
        "Time of a callback",
        About("s", "Mean time of a call of the plugin, the 10 exporters with the longest."),
        Query(
            f"topk(10, {all_rates(catalogue.CALLBACK_SECONDS, ('instance',))}"
            f" / ({all_rates(catalogue.CALLBACKS, ('instance',))} > 0))",
            "{{instance}}",
        ),
    ),
)
