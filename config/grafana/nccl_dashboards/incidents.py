# SPDX-License-Identifier: Apache-2.0
"""Incidents: what the daemon found, beside what stood out in the numbers."""

from typing import Final

from nccl_exporter import catalogue

from nccl_dashboards.about import About, gauge
from nccl_dashboards.dashboard import Dashboard, Row
from nccl_dashboards.panel import Query, alert_groups, stat, state_timeline, timeseries
from nccl_dashboards.promql import of_jobs
from nccl_dashboards.recorded import recorded
from nccl_dashboards.variable import JOB, SOURCE
from sentinel.web import catalogue as daemon

__all__ = ["ALERTMANAGER", "DASHBOARD"]

ALERTMANAGER: Final = "Alertmanager"
"""The data source as config/grafana/provisioning names it: this kind of panel takes no variable."""

_TWO = "Of two daemons that see the same one counts."
_INCIDENTS = (
    stat(
        "Incidents now",
        gauge(daemon.INCIDENTS, _TWO),
        Query(f"sum by (tier) (max by (verdict, tier) ({daemon.INCIDENTS.name}))", "{{tier}}"),
        width=12,
        bad="above 0",
    ),
    stat(
        "Communicators now",
        gauge(daemon.COMMUNICATORS, _TWO),
        Query(f"max by (state) ({daemon.COMMUNICATORS.name})", "{{state}}"),
        width=12,
    ),
    state_timeline(
        "Incidents",
        gauge(daemon.INCIDENTS, f"A bar while at least one is open, with their number. {_TWO}"),
        Query(f"max by (verdict, tier) ({daemon.INCIDENTS.name}) > 0", "{{tier}} {{verdict}}"),
    ),
    timeseries(
        "Incidents opened",
        About("short", f"{daemon.OPENED.help} Here: in each interval. {_TWO}"),
        Query(f"max by (verdict) (increase({daemon.OPENED.name}[$__rate_interval]))", "{{verdict}}"),
    ),
    timeseries(
        "Findings silenced",
        About("short", f"{daemon.SILENCED.help} Here: in each interval."),
        Query(f"max by (verdict) (increase({daemon.SILENCED.name}[$__rate_interval]))", "{{verdict}}"),
    ),
    timeseries(
        "Communicators",
        gauge(daemon.COMMUNICATORS, _TWO),
        Query(f"max by (state) ({daemon.COMMUNICATORS.name})", "{{state}}"),
        stacked=True,
    ),
    timeseries(
        "Alerts of others",
        gauge(daemon.CONTEXT_EFFECTS),
        Query(f"max by (effect) ({daemon.CONTEXT_EFFECTS.name})", "{{effect}}"),
    ),
)

_ANOMALIES = (
    timeseries(
        "Late ranks",
        About(
            "percentunit",
            "The largest lateness of a job's ranks: the share of time that its communicator's median rank waits "
            "for it.",
        ),
        Query(of_jobs(recorded("job_id:nccl_collective_lateness_seconds:max_rate5m")), "{{job_id}}"),
        minimum=None,
    ),
    timeseries(
        "Stalls",
        gauge(catalogue.INFLIGHT, "The largest of each job."),
        Query(of_jobs(recorded("job_id:nccl_oldest_inflight_seconds:max")), "{{job_id}}"),
    ),
    timeseries(
        "Transfers",
        About(
            "µs",
            "The smallest of the ranks' geometric mean durations: near what the wire needs, as the last to arrive "
            "waits for nobody. It falls when one rank is late and rises with the fabric or the message sizes.",
        ),
        Query(of_jobs(recorded("job_id_op:nccl_collective_microseconds:min_geomean_rate5m")), "{{job_id}} {{op}}"),
    ),
    timeseries(
        "Wire",
        About(
            "s",
            "Time on the wire of a network step that is sent, the lower quartile of a communicator's ranks; of each "
            "job, the largest. It rises with the fabric, and not with one slow sender.",
        ),
        Query(
            of_jobs(recorded("job_id:nccl_network_step_seconds_per_step:max_p25_ratio_rate5m")),
            "{{job_id}}",
        ),
    ),
    timeseries(
        "Processes",
        About("short", "Processes that are seen. A step down is a lost rank, a lost exporter or a restart."),
        Query(of_jobs(recorded("job_id:nccl_processes:count")), "{{job_id}}"),
    ),
    timeseries(
        "Operations launched",
        About("ops", "Operations launched, measured or not. Zero is a pause or a stall."),
        Query(of_jobs(recorded("job_id:nccl_started:rate5m")), "{{job_id}}"),
    ),
)

_ALERTS = alert_groups(
    "At Alertmanager",
    About(
        "none",
        "Alerts about jobs that fire now. The daemon sends them to Alertmanager, not to Prometheus: this needs the "
        f"data source {ALERTMANAGER}.",
    ),
    ALERTMANAGER,
    'tier=~"P0|P1|P2"',
)

DASHBOARD: Final = Dashboard(
    "nccl-incidents",
    "NCCL / Incidents",
    "What was found, and when? Incidents of the daemon above, what stood out in the numbers below.",
    (SOURCE, JOB),
    (Row("Incidents", _INCIDENTS), Row("What stood out", _ANOMALIES), Row("Alerts", (_ALERTS,))),
    since="now-24h",
)
