"""The PromQL that is asked of NVIDIA Inspector's metrics. A file that two servers scrape is merged by `max`."""

__all__ = ["COLLECTIVE_LABELS", "COLLECTIVE_METRICS", "POINT_TO_POINT_LABELS", "collectives", "point_to_point"]

COLLECTIVE_METRICS = ("nccl_collective_exec_time_microseconds", "nccl_bus_bandwidth_gbs")
COLLECTIVE_LABELS = (
    "slurm_job_id",
    "comm_name",
    "nranks",
    "n_nodes",
    "node",
    "gpu",
    "collective",
    "message_size",
    "algo_proto",
)
POINT_TO_POINT_LABELS = ("slurm_job_id",)


def collectives(selector: str) -> str:
    """Mean time and bandwidth of every cell on every GPU, in one answer."""
    own = '__name__=~"nccl_collective_exec_time_microseconds|nccl_bus_bandwidth_gbs"'
    both = ",".join(part for part in (own, selector) if part)
    return f"max by (__name__, {', '.join(COLLECTIVE_LABELS)}) ({{{both}}})"


def point_to_point(selector: str) -> str:
    """Which jobs send and receive."""
    return f"count by (slurm_job_id) (nccl_p2p_exec_time_microseconds{{{selector}}})"
