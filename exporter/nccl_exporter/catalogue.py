"""Every metric of the exporter, once: HELP and TYPE, collection and the table in docs/metrics.md come from here."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from nccl_endpoint.access import REFUSALS
from nccl_endpoint.family import MetricFamily, markdown_table

from nccl_exporter import layout
from nccl_exporter.ras.status import STATUSES
from nccl_exporter.text import escaped

__all__ = [
    "CAP_REASONS",
    "CATALOGUE",
    "NETWORK_STATES",
    "RANK_SERIES",
    "RAS_FAILURE_REASONS",
    "RAS_LEFT_OUT_REASONS",
    "ROW_REASONS",
    "SERIES_BY_TABLE",
    "SOURCE_REASONS",
    "SOURCE_STATES",
    "WEB_REFUSALS",
    "Family",
    "table",
]

SOURCE_STATES: Final = ("live", "starting", "finished", "dead", "rejected", "capped")
SOURCE_REASONS: Final = ("type", "permission", "size", "magic", "version", "header", "text", "io")
ROW_REASONS: Final = (
    "communicator",
    "duplicate",
    "kind",
    "name",
    "size",
    "peer",
    "direction",
    "count",
    "log_sum",
    "identity",
    "in_flight",
)
CAP_REASONS: Final = ("folded", "exporter")
WEB_REFUSALS: Final = REFUSALS
RAS_FAILURE_REASONS: Final = ("connect", "timeout", "closed", "protocol", "unsupported", "size", "malformed")
RAS_LEFT_OUT_REASONS: Final = ("not_found", "ambiguous")
# What a network step waits for, by direction: in the order of layout.LINK_COUNTS.
NETWORK_STATES: Final = {"send": ("gpu_wait", "peer_wait", "wire"), "recv": ("wire", "flush", "gpu_wait")}


@dataclass(frozen=True)
class Family(MetricFamily):
    """One metric family, and how it is written on the page."""

    @property
    def head(self) -> str:
        """The family's HELP and TYPE lines."""
        text = self.help.replace("\\", "\\\\")
        return f"# HELP {self.name} {text}\n# TYPE {self.name} {self.kind}\n"

    @cached_property
    def template(self) -> str:
        """The labels of one series as a %-format that takes their escaped values in order, without braces."""
        return ",".join(f'{label}="%s"' for label in self.labels)

    def line(self, values: Iterable[object], number: float) -> str:
        """One sample; for a histogram use the template."""
        labels = self.template % tuple(escaped(str(value)) for value in values)
        return f"{self.name}{{{labels}}} {number}\n" if labels else f"{self.name} {number}\n"


_RANK = ("comm", "rank")
_OPERATION = (*_RANK, "op")
_CELL = (*_OPERATION, "size", "algo", "proto")
_PEER = (*_OPERATION, "peer", "size")
_LINK = (*_RANK, "peer", "direction")
_CHANNEL = (*_RANK, "channel", "transport")

COMMUNICATOR_INFO: Final = Family(
    "nccl_communicator_info",
    "gauge",
    "",
    (
        *_RANK,
        "global_rank",
        "comm_name",
        "nranks",
        "nnodes",
        "node",
        "gpu",
        "gpu_uuid",
        "pid",
        "job_id",
        "nccl_version",
    ),
    "Always 1: who a rank of a communicator is. Join on (comm, rank).",
)
OPERATIONS: Final = Family(
    "nccl_collective_operations_total", "counter", "operations", _CELL, "Operations whose duration was measured."
)
SECONDS: Final = Family(
    "nccl_collective_seconds_total",
    "counter",
    "seconds",
    _CELL,
    "Durations of the measured operations together, by the GPU's timer.",
)
LOG_MICROSECONDS: Final = Family(
    "nccl_collective_log_microseconds_total",
    "counter",
    "ln(microseconds)",
    _CELL,
    "Sum of ln(duration in microseconds, at least 1) of the measured operations: gives their geometric mean.",
)
BYTES: Final = Family(
    "nccl_collective_bytes_total", "counter", "bytes", _OPERATION, "Message bytes of the measured operations."
)
DURATION: Final = Family(
    "nccl_collective_duration_seconds",
    "histogram",
    "seconds",
    _OPERATION,
    "Durations of the measured operations, by the GPU's timer.",
)
STARTED: Final = Family(
    "nccl_collective_started_total", "counter", "operations", _OPERATION, "Operations launched, measured or not."
)
P2P_OPERATIONS: Final = Family(
    "nccl_p2p_operations_total", "counter", "operations", _PEER, "Sends and Recvs whose duration was measured."
)
P2P_SECONDS: Final = Family(
    "nccl_p2p_seconds_total",
    "counter",
    "seconds",
    _PEER,
    "Durations of the measured Sends and Recvs together, by the GPU's timer.",
)
P2P_BYTES: Final = Family(
    "nccl_p2p_bytes_total", "counter", "bytes", _PEER, "Message bytes of the measured Sends and Recvs."
)
P2P_STARTED: Final = Family(
    "nccl_p2p_started_total", "counter", "operations", _OPERATION, "Sends and Recvs launched, measured or not."
)
INFLIGHT: Final = Family(
    "nccl_oldest_inflight_seconds",
    "gauge",
    "seconds",
    _RANK,
    "Age of the oldest timed operation that was launched and has not finished; 0 when there is none.",
)
NETWORK_SECONDS: Final = Family(
    "nccl_network_step_seconds_total",
    "counter",
    "seconds",
    (*_LINK, "state"),
    "Time that network steps spent in each state, of the operations that sampling chose.",
)
NETWORK_STEPS: Final = Family(
    "nccl_network_steps_total",
    "counter",
    "steps",
    (*_LINK, "state"),
    "Network steps that were in each state, of the operations that sampling chose.",
)
NETWORK_BYTES: Final = Family(
    "nccl_network_bytes_total",
    "counter",
    "bytes",
    _LINK,
    "Bytes moved by network transport, of the operations that sampling chose.",
)
CHANNEL_SECONDS: Final = Family(
    "nccl_channel_seconds_total",
    "counter",
    "seconds",
    _CHANNEL,
    "Time that the kernels of timed operations spent on a channel; transport: net where it has network steps.",
)
CHANNEL_OPERATIONS: Final = Family(
    "nccl_channel_operations_total", "counter", "operations", _CHANNEL, "Timed operations that used a channel."
)
RAS_STATUS: Final = Family(
    "nccl_ras_rank_status",
    "gauge",
    "",
    (*_RANK, "status"),
    "1 where NCCL's RAS service says so of the rank, else 0; absent where it does not answer.",
)
REFUSED: Final = Family(
    "nccl_profiler_samples_refused_total",
    "counter",
    "operations",
    (*_RANK, "reason"),
    "Operations whose duration was not trusted, and why.",
)
DROPPED: Final = Family(
    "nccl_profiler_events_dropped_total",
    "counter",
    "events",
    ("reason",),
    "What did not fit into the plugin's tables, on this node: ended processes stay counted.",
)
SKIPPED: Final = Family(
    "nccl_profiler_operations_skipped_total", "counter", "operations", _RANK, "Operations left out by sampling."
)
CALLBACK_SECONDS: Final = Family(
    "nccl_profiler_callback_seconds_total",
    "counter",
    "seconds",
    _RANK,
    "Time spent in the plugin's callbacks, estimated from those that were timed.",
)
CALLBACKS: Final = Family(
    "nccl_profiler_callbacks_total", "counter", "calls", _RANK, "Calls of the plugin that named this communicator."
)
SAMPLING_RATIO: Final = Family(
    "nccl_profiler_sampling_ratio",
    "gauge",
    "ratio",
    _RANK,
    "Measured operations over launched ones; absent until one was launched.",
)
GOVERNOR: Final = Family(
    "nccl_profiler_governor_level",
    "gauge",
    "times",
    _RANK,
    "How often the plugin has lowered sampling to stay within its budget; 0 is as configured.",
)
BUILD_INFO: Final = Family(
    "nccl_exporter_build_info", "gauge", "", ("version", "layout"), "Always 1: this exporter and the layout it reads."
)
SCRAPE_DURATION: Final = Family(
    "nccl_exporter_scrape_duration_seconds",
    "gauge",
    "seconds",
    (),
    "Time it took to read the sources and write this page.",
)
SOURCES: Final = Family(
    "nccl_exporter_sources",
    "gauge",
    "files",
    ("state",),
    "Mapped files found by this scrape; capped are those past the limit, which were not opened.",
)
SOURCES_REJECTED: Final = Family(
    "nccl_exporter_sources_rejected_total",
    "counter",
    "files",
    ("reason",),
    "Mapped files that were rejected, each counted once for each reason.",
)
DIRECTORIES_UNREADABLE: Final = Family(
    "nccl_exporter_directories_unreadable",
    "gauge",
    "directories",
    (),
    "Source directories that exist and could not be listed.",
)
ROWS_TORN: Final = Family(
    "nccl_exporter_rows_torn_total",
    "counter",
    "rows",
    (),
    "Rows that were being written each time they were looked at in a scrape; the last good values were published.",
)
ROWS_REJECTED: Final = Family(
    "nccl_exporter_rows_rejected_total",
    "counter",
    "rows",
    ("reason",),
    "Rows left out of a scrape because they could not be true; duplicate: a newer process has the same place.",
)
SERIES_CAPPED: Final = Family(
    "nccl_exporter_series_capped_total",
    "counter",
    "series",
    ("reason",),
    "Series that were not given: folded into others (each counted once) or left out of a scrape of a full page.",
)
WEB_REFUSED: Final = Family(
    "nccl_exporter_web_refused_total",
    "counter",
    "requests",
    ("reason",),
    "Connections and requests that were not let in, and why.",
)
WEB_RELOAD: Final = Family(
    "nccl_exporter_web_config_last_reload_successful",
    "gauge",
    "",
    (),
    "0 where the web configuration was changed and could not be read: the one before is in force.",
)
RAS_QUERIES: Final = Family(
    "nccl_exporter_ras_queries_total", "counter", "queries", (), "Questions to NCCL's RAS service, answered or not."
)
RAS_FAILURES: Final = Family(
    "nccl_exporter_ras_failures_total",
    "counter",
    "queries",
    ("reason",),
    "Questions to RAS without an answer that could be used, and why.",
)
RAS_LEFT_OUT: Final = Family(
    "nccl_exporter_ras_communicators_left_out_total",
    "counter",
    "communicators",
    ("reason",),
    "Communicators of this node that an answer of RAS could not be matched with, counted for each answer.",
)
RAS_CAPPED: Final = Family(
    "nccl_exporter_ras_series_capped_total",
    "counter",
    "series",
    (),
    "Statuses of other nodes' ranks that RAS gave and that there was no room for, counted for each answer.",
)

CATALOGUE: Final = (
    COMMUNICATOR_INFO,
    OPERATIONS,
    SECONDS,
    LOG_MICROSECONDS,
    BYTES,
    DURATION,
    STARTED,
    P2P_OPERATIONS,
    P2P_SECONDS,
    P2P_BYTES,
    P2P_STARTED,
    INFLIGHT,
    NETWORK_SECONDS,
    NETWORK_STEPS,
    NETWORK_BYTES,
    CHANNEL_SECONDS,
    CHANNEL_OPERATIONS,
    RAS_STATUS,
    REFUSED,
    DROPPED,
    SKIPPED,
    CALLBACK_SECONDS,
    CALLBACKS,
    SAMPLING_RATIO,
    GOVERNOR,
    BUILD_INFO,
    SCRAPE_DURATION,
    SOURCES,
    SOURCES_REJECTED,
    DIRECTORIES_UNREADABLE,
    ROWS_TORN,
    ROWS_REJECTED,
    SERIES_CAPPED,
    WEB_REFUSED,
    WEB_RELOAD,
    RAS_QUERIES,
    RAS_FAILURES,
    RAS_LEFT_OUT,
    RAS_CAPPED,
)

# Series of one rank in one communicator, whatever it does.
RANK_SERIES: Final = (
    len((COMMUNICATOR_INFO, INFLIGHT, SKIPPED, CALLBACK_SECONDS, CALLBACKS, SAMPLING_RATIO, GOVERNOR))
    + len(layout.REFUSED)
    + len(STATUSES)
)
# Series of one key of each table (communicator.Tenant.groupings).
SERIES_BY_TABLE: Final = {
    "cells": len((OPERATIONS, SECONDS, LOG_MICROSECONDS)),
    "durations": layout.BUCKETS + len(("sum", "count")),
    "peers": len((P2P_OPERATIONS, P2P_SECONDS, P2P_BYTES)),
    "links": layout.STEP_STATES * len((NETWORK_SECONDS, NETWORK_STEPS)) + len((NETWORK_BYTES,)),
    "channels": len((CHANNEL_SECONDS, CHANNEL_OPERATIONS)),
}


def table() -> str:
    """The catalogue as a Markdown table, a line for each family."""
    return markdown_table(CATALOGUE)


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201
