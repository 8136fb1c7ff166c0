# SPDX-License-Identifier: Apache-2.0
"""Health: of nccl-sentinel itself. Its rows are in exporter_health and daemon_health."""

from typing import Final

from nccl_exporter import catalogue as exporter_catalogue

from nccl_dashboards import bandwidth, cluster, daemon_health, exporter_health, incidents, ranks
from nccl_dashboards.about import About
from nccl_dashboards.dashboard import Dashboard, Row
from nccl_dashboards.panel import Query, state_timeline, timeseries
from nccl_dashboards.promql import on_targets
from nccl_dashboards.unshown import unshown
from nccl_dashboards.variable import INSTANCE, SCRAPE_JOB, SOURCE
from sentinel.web import catalogue as daemon_catalogue

__all__ = ["DASHBOARD"]

_UP = on_targets("up")

_OVERALL = (
    state_timeline(
        "Alerts about nccl-sentinel",
        About(
            "short", "Pending and firing, of the alerting rules that watch the daemon, the exporters and the plugin."
        ),
        # Without instance: some say that a target is not there at all.
        Query(
            'count by (alertname, alertstate) (ALERTS{alertname=~"Nccl(Sentinel|Exporter|Plugin).+"})',
            "{{alertname}} {{alertstate}}",
        ),
        width=12,
    ),
    timeseries(
        "Targets",
        About("short", "Targets that Prometheus scrapes, and those of them that answer."),
        Query(f"count by (job) ({_UP})", "{{job}}"),
        Query(f"sum by (job) ({_UP})", "{{job}} up"),
    ),
)

_ROWS = (
    Row("nccl-sentinel", _OVERALL),
    Row("Daemon: looking", daemon_health.LOOKING),
    Row("Daemon: telling", daemon_health.TELLING),
    Row("Daemon: itself", daemon_health.ITSELF),
    Row("Exporters", exporter_health.EXPORTERS),
    Row("Exporters: NCCL's RAS service", exporter_health.RAS),
    Row("Plugin", exporter_health.PLUGIN),
)
_OTHERS = (cluster.DASHBOARD, ranks.DASHBOARD, bandwidth.DASHBOARD, incidents.DASHBOARD)
_SHOWN = [panel for row in (*_ROWS, *(row for other in _OTHERS for row in other.rows)) for panel in row.panels]
_REST = (
    Row("Daemon: more", unshown(daemon_catalogue.CATALOGUE, _SHOWN, ("instance",))),
    Row("Exporters and plugin: more", unshown(exporter_catalogue.CATALOGUE, _SHOWN)),
)

DASHBOARD: Final = Dashboard(
    "nccl-health",
    "NCCL / Exporter and daemon",
    "Can the other pages be believed? Exporters, plugin and daemon.",
    (SOURCE, SCRAPE_JOB, INSTANCE),
    (*_ROWS, *(row for row in _REST if row.panels)),
)
