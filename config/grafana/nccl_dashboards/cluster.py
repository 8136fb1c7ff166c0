# SPDX-License-Identifier: Apache-2.0
"""The cluster: what runs, how long collectives take, who makes others wait."""

from typing import Final

from nccl_exporter import catalogue

from nccl_dashboards.about import About, gauge, rate
from nccl_dashboards.dashboard import Dashboard, Row
from nccl_dashboards.panel import Column, Panel, Query, stat, table, timeseries
from nccl_dashboards.promql import QUANTILES, of_jobs
from nccl_dashboards.recorded import recorded
from nccl_dashboards.variable import JOB, SOURCE
from sentinel.web.catalogue import INCIDENTS

__all__ = ["DASHBOARD"]

_LATENESS = of_jobs(recorded("job_id:nccl_collective_lateness_seconds:max_rate5m"))
_MEASURED = of_jobs(recorded("job_id:nccl_measured:rate5m"))
_STARTED = of_jobs(recorded("job_id:nccl_started:rate5m"))
_PROCESSES = of_jobs(recorded("job_id:nccl_processes:count"))
_COMMUNICATORS = of_jobs(recorded("job_id:nccl_communicators:count"))
_IN_FLIGHT = of_jobs(recorded("job_id:nccl_oldest_inflight_seconds:max"))


def _durations(quantile: str) -> Panel:
    buckets = of_jobs(recorded("job_id_op_le:nccl_collective_duration_seconds_bucket:rate5m"))
    note = (
        f"{quantile} of all ranks over 5 minutes. Read it as a trend: it is interpolated in buckets that are a factor "
        "of 6.3 wide. Long ones belong to ranks that wait, not to the one that is late."
    )
    return timeseries(
        f"Durations, {quantile}",
        gauge(catalogue.DURATION, note),
        Query(f"histogram_quantile({QUANTILES[quantile]}, sum by (op, le) ({buckets}))", "{{op}}"),
        width=8,
    )


_NOW = (
    stat(
        "Jobs",
        About("short", "Jobs that are seen. Those that say no id count as one."),
        Query(f"count({_PROCESSES})", "jobs"),
    ),
    stat(
        "Processes",
        About("short", "Processes with communicators, one a GPU as a rule."),
        Query(f"sum({_PROCESSES})", "processes"),
    ),
    stat(
        "Communicators",
        About("short", "Communicators that are seen."),
        Query(f"sum({_COMMUNICATORS})", "communicators"),
    ),
    stat(
        "Incidents", gauge(INCIDENTS), Query(f"sum(max by (verdict, tier) ({INCIDENTS.name}))", "open"), bad="above 0"
    ),
    stat(
        "Oldest in flight",
        gauge(catalogue.INFLIGHT, "The largest of all. It stays small while a job makes progress."),
        Query(f"max({_IN_FLIGHT})", "oldest"),
    ),
    stat(
        "Timed",
        About("percentunit", "Operations whose duration was measured, of all that were launched."),
        Query(f"sum({_MEASURED}) / sum({_STARTED})", "timed"),
    ),
)

_LATE = (
    timeseries(
        "Lateness, the largest of each job",
        About(
            "percentunit",
            "Share of time that a communicator's median rank waits for a rank, in collectives in which nobody finishes "
            "before the last one has arrived: median of the ranks' durations − its own, scaled for sampling.",
        ),
        Query(_LATENESS, "{{job_id}}"),
        minimum=None,
    ),
    timeseries(
        "Lateness, P95 of ranks",
        About(
            "percentunit",
            "Of each job, the communicator where it is largest. Where it stays low and the largest does not, one rank "
            "is at fault; where both rise work is uneven.",
        ),
        Query(of_jobs(recorded("job_id:nccl_collective_lateness_seconds:max_p95_rate5m")), "{{job_id}}"),
        minimum=None,
    ),
    timeseries(
        "Mean durations, median rank",
        About(
            "µs",
            "Geometric mean of the median rank's durations over 5 minutes; of each job, the communicator where it is "
            "largest. It rises where one rank is late, as all others wait.",
        ),
        Query(
            of_jobs(recorded("job_id_op:nccl_collective_microseconds:max_median_geomean_rate5m")),
            "{{job_id}} {{op}}",
        ),
    ),
    timeseries(
        "Mean durations, shortest",
        About(
            "µs",
            "The smallest of a job's ranks: of the rank that waits least. It falls when one rank is late, and rises "
            "with the fabric or the message sizes.",
        ),
        Query(of_jobs(recorded("job_id_op:nccl_collective_microseconds:min_geomean_rate5m")), "{{job_id}} {{op}}"),
    ),
)

_WORK = (
    timeseries(
        "Collectives launched",
        rate(catalogue.STARTED),
        Query(f"sum by (op) ({of_jobs(recorded('job_id_op:nccl_collective_started:rate5m'))})", "{{op}}"),
    ),
    timeseries(
        "Sends and Recvs launched",
        rate(catalogue.P2P_STARTED),
        Query(f"sum by (op) ({of_jobs(recorded('job_id_op:nccl_p2p_started:rate5m'))})", "{{op}}"),
    ),
    timeseries(
        "Time inside collectives",
        About(
            "percentunit",
            "Share of time that a process is inside an operation, the mean over a job's, scaled for sampling. "
            "Communicators that overlap count each.",
        ),
        Query(
            of_jobs(recorded("job_id_op:nccl_collective_seconds_scaled_per_process:ratio_rate5m")), "{{job_id}} {{op}}"
        ),
    ),
    timeseries(
        "Oldest in flight, by job",
        gauge(catalogue.INFLIGHT, "The largest of each job. A line that rises second by second is a hang."),
        Query(_IN_FLIGHT, "{{job_id}}"),
    ),
)

_JOBS = table(
    "Jobs",
    About("short", "Each job, the one with the largest lateness on top."),
    {"job_id": "Job"},
    (
        Column("Largest lateness", "percentunit", _LATENESS),
        Column("Processes", "short", _PROCESSES),
        Column("Communicators", "short", _COMMUNICATORS),
        Column("Operations launched", "ops", _STARTED),
        Column("Oldest in flight", "s", _IN_FLIGHT),
        Column("Plugin's share", "percentunit", of_jobs(recorded("job_id:nccl_profiler_callback_seconds:max_rate5m"))),
    ),
)

DASHBOARD: Final = Dashboard(
    "nccl-cluster",
    "NCCL / Cluster",
    "Is anything wrong, and where? All jobs at a glance.",
    (SOURCE, JOB),
    (
        Row("Now", _NOW),
        Row("How long collectives take", tuple(_durations(name) for name in QUANTILES)),
        Row("Who makes others wait", _LATE),
        Row("Jobs", (_JOBS,)),
        Row("Work", _WORK),
    ),
)
