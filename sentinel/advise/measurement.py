"""What was measured of one operation, size class, algorithm and protocol in one role."""

from dataclasses import dataclass

from sentinel.advise.batch_means import Estimate

__all__ = ["CONFIDENCE", "Hardware", "Measurement"]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Hardware:
    """Where a communicator runs. `nodes` are the host names of its job's communicators of that shape, sorted."""

    job_id: str
    comm_name: str
    nranks: int
    nnodes: int
    nodes: tuple[str, ...]

    def same_as(self, other: "Hardware") -> bool:
        """Whether measurements can be compared: as many ranks and nodes in the same role, on the same nodes.

        Nobody labels what GPUs there are, so the hardware of another job is known to be the same only on those nodes.
        """
        shape = (self.comm_name, self.nranks, self.nnodes)
        if shape != (other.comm_name, other.nranks, other.nnodes):
            return False
        return self.job_id == other.job_id or (self.nodes == other.nodes and any(self.nodes))


@dataclass(frozen=True)
class Measurement:
    """One row of the strategy. `size_bytes` is the class: messages from that power of two up to the next.

    `log_latency` is ln of seconds. Of synchronizing collectives (`is_transfer`) it is the mean over windows of the
    shortest rank's geometric mean: the last to arrive waits for nobody, and no rank's mean is below the transfer's, so
    that this is the transfer or above it, and the busbw is the bus bandwidth or below it. Of other operations it is
    the median rank's, which may hold waiting and may leave early: no two of them are compared.

    `log_duration` is the median rank's, as the job sees it. `scatter_ratio` is the standard deviation of one rank's
    durations over their mean; `time_ratio` the share of the time that the median rank spent in this row's operations,
    those that sampling left out included.
    `message_bytes` bounds the mean message, by what is known of the bytes. `bus_bytes` the same, as bus traffic; None
    where NCCL defines none.
    """

    hardware: Hardware
    op: str
    size_bytes: int
    algo: str
    proto: str
    operations: float
    windows: int
    is_transfer: bool
    log_latency: Estimate
    log_duration: Estimate
    scatter_ratio: float
    time_ratio: float
    message_bytes: tuple[float, float]
    bus_bytes: tuple[float, float] | None
    sizes_per_operation: tuple[tuple[int, float], ...] = ()  # share of the op's operations, by size class
    op_message_bytes: float = float("nan")  # mean of the op's messages, all classes together

    @property
    def setting(self) -> tuple[str, str]:
        """Algorithm and protocol."""
        return self.algo, self.proto
