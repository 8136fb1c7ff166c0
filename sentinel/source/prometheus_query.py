"""The PromQL that the daemon asks. Duplicates of a series (one exporter scraped by two servers) are merged by `max`."""

__all__ = [
    "CELL_METRICS",
    "NETWORK_METRICS",
    "PEER_METRICS",
    "SAMPLES_SECONDS",
    "cells",
    "communicators",
    "exporters",
    "in_flight",
    "network",
    "peers",
    "recorded_cells",
    "recorded_peers",
    "samples",
    "started",
]

CELL_METRICS = (
    "nccl_collective_operations_total",
    "nccl_collective_seconds_total",
    "nccl_collective_log_microseconds_total",
)
PEER_METRICS = ("nccl_p2p_operations_total", "nccl_p2p_seconds_total")
NETWORK_METRICS = ("nccl_network_steps_total", "nccl_network_step_seconds_total")

# Twice the server's lookback (5m): what a vanished rank has filled of the window then shrinks more slowly than its age
# grows, for as long as the server still shows it. With a shorter one it would come back at the end.
SAMPLES_SECONDS = 600


def cells(selector: str) -> str:
    """The three counters of every cell in one answer, so that they are of the same moment."""
    matchers = _matchers('__name__=~"nccl_collective_(operations|seconds|log_microseconds)_total"', selector)
    return f"max by (__name__, comm, rank, op, size, algo, proto) ({matchers})"


def recorded_cells(selector: str) -> str:
    """As `cells`, of each operation all sizes, algorithms and protocols together: the rule gives it size "other"."""
    recorded = f"comm_rank_op_counter:nccl_collective_total:sum{_matchers('', selector)}"
    return _named("collective", f"max by (counter, comm, rank, op, size) ({recorded})")


def started(selector: str) -> str:
    """Collectives, Sends and Recvs launched."""
    matchers = _matchers('__name__=~"nccl_(collective|p2p)_started_total"', selector)
    return f"max by (comm, rank, op) ({matchers})"


def peers(selector: str) -> str:
    """The two counters of the Sends and Recvs with each peer, all sizes together."""
    matchers = _matchers('__name__=~"nccl_p2p_(operations|seconds)_total"', selector)
    return f"sum by (__name__, comm, rank, op, peer) (max by (__name__, comm, rank, op, peer, size) ({matchers}))"


def recorded_peers(selector: str) -> str:
    """As `peers`, from the recording rule."""
    recorded = f"comm_rank_op_peer_counter:nccl_p2p_total:sum{_matchers('', selector)}"
    return _named("p2p", f"max by (counter, comm, rank, op, peer) ({recorded})")


def network(selector: str) -> str:
    """The two counters of network steps in each state."""
    matchers = _matchers('__name__=~"nccl_network_(steps|step_seconds)_total"', selector)
    return f"max by (__name__, comm, rank, peer, direction, state) ({matchers})"


def exporters(selector: str) -> str:
    """Exporters that answer; the value is the Unix time of the newest sample."""
    return f"max by (instance) (timestamp(nccl_exporter_build_info{_matchers('', selector)}))"


def in_flight(selector: str) -> str:
    """Age of the oldest operation in flight."""
    return f"max by (comm, rank) (nccl_oldest_inflight_seconds{_matchers('', selector)})"


def communicators(selector: str) -> str:
    """Who each rank is; the value is the Unix time of the newest sample.

    Labels that nobody reads (pid, versions) are left out: they would split a rank in two.
    """
    labels = "comm, rank, global_rank, nranks, nnodes, comm_name, node, gpu, gpu_uuid, job_id, instance"
    return f"max by ({labels}) (timestamp(nccl_communicator_info{_matchers('', selector)}))"


def samples(selector: str) -> str:
    """How many samples each rank has in the last `SAMPLES_SECONDS`, which tells how often it is scraped."""
    return f"max by (comm, rank) (count_over_time(nccl_communicator_info{_matchers('', selector)}[{SAMPLES_SECONDS}s]))"


def _named(kind: str, recorded: str) -> str:
    """One rule records several counters, so that they are of the same moment; what they are called is a label."""
    return f'label_replace({recorded}, "__name__", "nccl_{kind}_${{1}}_total", "counter", "(.+)")'


def _matchers(own: str, selector: str) -> str:
    both = ",".join(part for part in (own, selector) if part)
    return f"{{{both}}}" if both else ""
