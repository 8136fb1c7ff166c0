"""The PromQL that the daemon asks. Duplicates of a series (one exporter scraped by two servers) are merged by `max`."""

__all__ = ["CELL_METRICS", "SAMPLES_SECONDS", "cells", "communicators", "in_flight", "samples", "started"]

CELL_METRICS = (
    "nccl_collective_operations_total",
    "nccl_collective_seconds_total",
    "nccl_collective_log_microseconds_total",
)


# Twice the server's lookback (5m): what a vanished rank has filled of the window then shrinks more slowly than its age
# grows, for as long as the server still shows it. With a shorter one it would come back at the end.
SAMPLES_SECONDS = 600


def cells(selector: str) -> str:
    """The three counters of every cell in one answer, so that they are of the same moment."""
    matchers = _matchers('__name__=~"nccl_collective_(operations|seconds|log_microseconds)_total"', selector)
    return f"max by (__name__, comm, rank, op, size, algo, proto) ({matchers})"


def started(selector: str) -> str:
    """Collectives launched."""
    return f"max by (comm, rank, op) (nccl_collective_started_total{_matchers('', selector)})"


def in_flight(selector: str) -> str:
    """Age of the oldest operation in flight."""
    return f"max by (comm, rank) (nccl_oldest_inflight_seconds{_matchers('', selector)})"


def communicators(selector: str) -> str:
    """Who each rank is; the value is the Unix time of the newest sample.

    Labels that nobody reads (pid, versions) are left out: they would split a rank in two.
    """
    labels = "comm, rank, global_rank, nranks, nnodes, comm_name, node, gpu, gpu_uuid, job_id"
    return f"max by ({labels}) (timestamp(nccl_communicator_info{_matchers('', selector)}))"


def samples(selector: str) -> str:
    """How many samples each rank has in the last `SAMPLES_SECONDS`, which tells how often it is scraped."""
    return f"max by (comm, rank) (count_over_time(nccl_communicator_info{_matchers('', selector)}[{SAMPLES_SECONDS}s]))"


def _matchers(own: str, selector: str) -> str:
    both = ",".join(part for part in (own, selector) if part)
    return f"{{{both}}}" if both else ""
