"""Every metric of the exporter, once: HELP and TYPE, collection and the table in docs/metrics.md come from here."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from nccl_exporter.text import escaped

__all__ = ["CATALOGUE", "ROW_REASONS", "SOURCE_REASONS", "SOURCE_STATES", "Family", "table"]

SOURCE_STATES: Final = ("live", "starting", "finished", "dead", "rejected", "capped")
SOURCE_REASONS: Final = ("type", "permission", "size", "magic", "version", "header", "text", "io")
ROW_REASONS: Final = ("communicator", "duplicate", "name", "size", "log_sum")
CAP_REASONS: Final = ("exporter",)


@dataclass(frozen=True)
class Family:
    """One metric family; `labels` in the order in which values are given."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    labels: tuple[str, ...]
    help: str

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
INFLIGHT: Final = Family(
    "nccl_oldest_inflight_seconds",
    "gauge",
    "seconds",
    _RANK,
    "Age of the oldest timed operation that was launched and has not finished; 0 when there is none.",
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
    "Series left out of a scrape because the page was full.",
)

CATALOGUE: Final = (
    COMMUNICATOR_INFO,
    OPERATIONS,
    SECONDS,
    LOG_MICROSECONDS,
    BYTES,
    DURATION,
    STARTED,
    INFLIGHT,
    REFUSED,
    DROPPED,
    SKIPPED,
    CALLBACK_SECONDS,
    CALLBACKS,
    SAMPLING_RATIO,
    BUILD_INFO,
    SCRAPE_DURATION,
    SOURCES,
    SOURCES_REJECTED,
    DIRECTORIES_UNREADABLE,
    ROWS_TORN,
    ROWS_REJECTED,
    SERIES_CAPPED,
)


def table() -> str:
    """The catalogue as a Markdown table, a line for each family."""
    rows = ["| metric | kind | unit | labels | meaning |", "| --- | --- | --- | --- | --- |"]
    for family in CATALOGUE:
        labels = ", ".join(family.labels)
        rows.append(f"| `{family.name}` | {family.kind} | {family.unit} | {labels} | {family.help} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201
