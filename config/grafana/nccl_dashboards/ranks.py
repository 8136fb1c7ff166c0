# SPDX-License-Identifier: Apache-2.0
"""Ranks: which one the others wait for, and who it is."""

from typing import Final

from nccl_exporter import catalogue

from nccl_dashboards.about import About, gauge
from nccl_dashboards.dashboard import Dashboard, Row
from nccl_dashboards.panel import Column, Query, heatmap, stat, status_history, table, text, timeseries
from nccl_dashboards.promql import WHO, chosen, highest, lowest, of_communicators, of_ranks, rates
from nccl_dashboards.recorded import recorded
from nccl_dashboards.variable import COMMUNICATOR, JOB, OPERATION, SOURCE

__all__ = ["DASHBOARD"]

_RANK = ("comm", "rank")
_RANK_OP = ("comm", "rank", "op")
_OPERATION = 'op=~"$op"'
_CALLED = "{{global_rank}} ({{node}} GPU {{gpu}}, {{comm}})"
_CALLED_OP = "{{global_rank}} {{op}} ({{node}} GPU {{gpu}}, {{comm}})"
_LATENESS = chosen(recorded("comm_rank:nccl_collective_lateness_seconds:rate5m"))
_LATENESS_EACH = chosen(recorded("comm_rank_op:nccl_collective_lateness_microseconds:geomean_rate5m"), _OPERATION)
_GEOMEAN = chosen(recorded("comm_rank_op:nccl_collective_microseconds:geomean_rate5m"), _OPERATION)
_MEDIAN = chosen(recorded("comm_op:nccl_collective_microseconds:median_geomean_rate5m"), _OPERATION)
_MEAN = chosen(recorded("comm_rank_op:nccl_collective_seconds_per_operation:ratio_rate5m"), _OPERATION)
_BUCKETS = chosen(recorded("comm_op_le:nccl_collective_duration_seconds_bucket:rate5m"), _OPERATION)
# Several nodes may tell of the same rank.
_RAS = f"max by (comm, rank, status) ({chosen(catalogue.RAS_STATUS.name)})"
_STARTED = chosen(recorded("comm_rank:nccl_started:rate5m"))
_PEER = (*_RANK_OP, "peer")

_MESSAGE = """\
**The rank that holds everybody up has the shortest durations.** In AllReduce, AllGather, ReduceScatter and AllToAll
nobody finishes before the last rank has arrived: whoever comes last waits for nobody, and its victims have the long
durations. So ranks are compared by **lateness** = median of the ranks' durations − its own. Below 0 a rank waits longer
than most.

A rank may be late because it waited itself, in Recv or in another communicator: the daemon follows that chain, these
graphs do not. See its incident.
"""

_LATENESS_ABOUT = (
    "median of the ranks' durations − its own, over collectives in which nobody finishes before the last one has "
    "arrived"
)

_RANKING = (
    text("The late rank has the shortest durations", "How to read this page.", _MESSAGE),
    table(
        "Ranks that others wait for",
        About("percentunit", f"Lateness now: {_LATENESS_ABOUT}, as a share of time, scaled for sampling. The top 20."),
        {
            "global_rank": "Rank",
            "node": "Node",
            "gpu": "GPU",
            "job_id": "Job",
            "comm_name": "Name",
            "comm": "Communicator",
            "rank": "Rank in it",
        },
        (Column("Waited for", "percentunit", f"topk(20, {of_ranks(_LATENESS, *WHO)})"),),
        height=10,
    ),
    status_history(
        "Lateness by rank",
        About(
            "percentunit",
            f"The 40 ranks that stood highest: {_LATENESS_ABOUT}, as a share of time, scaled for sampling. "
            "One dark row is one late rank. Choose a communicator to see the ranks of that one.",
        ),
        Query(highest(40, _LATENESS, _RANK), _CALLED),
    ),
)

_OPERATIONS = (
    timeseries(
        "Lateness in each operation",
        About(
            "µs",
            f"The 10 that stood highest: {_LATENESS_ABOUT}, from geometric means over 5 minutes. "
            "Of two ranks each is half of the difference.",
        ),
        Query(highest(10, _LATENESS_EACH, _RANK_OP), _CALLED_OP),
        minimum=None,
    ),
    timeseries(
        "Shortest durations",
        About(
            "µs",
            "The 10 ranks with the smallest geometric mean, and their communicators' medians. A rank that stays at "
            "the bottom while its median rises is the one that is waited for.",
        ),
        Query(lowest(10, _GEOMEAN, _RANK_OP), _CALLED_OP),
        Query(of_communicators(_MEDIAN), "median {{op}} ({{comm}})"),
    ),
    timeseries(
        "Longest durations",
        About(
            "s",
            "The 10 ranks with the largest arithmetic mean. These wait: they are the victims of a late rank. A rank "
            "far above its own geometric mean has rare hiccups.",
        ),
        Query(highest(10, _MEAN, _RANK_OP), _CALLED_OP),
    ),
    heatmap(
        "Durations of collectives",
        gauge(catalogue.DURATION, "How many a second, by bucket, all chosen ranks together. Choose one operation."),
        Query(f"sum by (le) ({of_communicators(_BUCKETS)})", "{{le}}"),
    ),
)

_POINT_TO_POINT = (
    timeseries(
        "Slowest Sends and Recvs",
        About(
            "s",
            "Mean duration by peer, the 10 longest. Who waits in Recv waits for that peer, and is no culprit.",
        ),
        Query(
            "topk(10, "
            + of_ranks(
                f"{rates(catalogue.P2P_SECONDS, _PEER)} / ({rates(catalogue.P2P_OPERATIONS, _PEER)} > 0)",
                *WHO,
            )
            + ")",
            "{{global_rank}} {{op}} {{peer}} ({{node}} GPU {{gpu}}, {{comm}})",
        ),
    ),
    timeseries(
        "Time in Sends and Recvs",
        About(
            "percentunit",
            "Share of time inside them, by rank, scaled for sampling. The 10 largest.",
        ),
        Query(
            "topk(10, "
            + of_ranks(
                f"{rates(catalogue.P2P_SECONDS, _RANK_OP)}"
                f" * {rates(catalogue.P2P_STARTED, _RANK_OP)} / ({rates(catalogue.P2P_OPERATIONS, _RANK_OP)} > 0)",
                *WHO,
            )
            + ")",
            _CALLED_OP,
        ),
    ),
)

_PROGRESS = (
    timeseries(
        "Oldest in flight",
        gauge(
            catalogue.INFLIGHT,
            "The 10 that stood highest. In a hang these wait: look at the rank that has nothing in flight.",
        ),
        Query(highest(10, chosen(catalogue.INFLIGHT.name), _RANK), _CALLED),
    ),
    timeseries(
        "Fewest operations launched",
        About(
            "percentunit",
            "Operations launched, measured or not, of what the busiest rank of the communicator launches: the 10 "
            "ranks with the fewest. Ranks of one communicator launch the same in the long run.",
        ),
        Query(
            "bottomk(10, " + of_ranks(f"{_STARTED} / on (comm) group_left () max by (comm) ({_STARTED})", *WHO) + ")",
            _CALLED,
        ),
    ),
    stat(
        "What NCCL says of ranks",
        gauge(catalogue.RAS_STATUS, "Ranks of this status."),
        Query(f"sum by (status) ({of_ranks(_RAS)})", "{{status}}"),
        width=24,
        absent="RAS is not asked",
    ),
)

_IDENTITY = table(
    "Who is who",
    About("short", f"{catalogue.COMMUNICATOR_INFO.help} At most 500 are shown."),
    {name: name for name in catalogue.COMMUNICATOR_INFO.labels},
    (
        Column(
            "Exporters",
            "short",
            f"topk(500, count by ({', '.join(catalogue.COMMUNICATOR_INFO.labels)}) "
            f'({catalogue.COMMUNICATOR_INFO.name}{{job_id=~"$job_id", comm=~"$comm"}}))',
        ),
    ),
    height=10,
)

DASHBOARD: Final = Dashboard(
    "nccl-ranks",
    "NCCL / Ranks",
    "Which rank do the others wait for? Ranks of one job, or of one communicator, against each other.",
    (SOURCE, JOB, COMMUNICATOR, OPERATION),
    (
        Row("Who makes others wait", _RANKING),
        Row("Collectives", _OPERATIONS),
        Row("Send and Recv", _POINT_TO_POINT),
        Row("Progress", _PROGRESS),
        Row("Identity", (_IDENTITY,)),
    ),
)
