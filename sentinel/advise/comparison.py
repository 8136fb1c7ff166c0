"""One measurement against another: how much faster the same messages would have been."""

import math
from dataclasses import dataclass

from sentinel.advise.batch_means import Estimate, difference_interval
from sentinel.advise.measurement import Measurement
from sentinel.advise.waiting import waiting_per_scatter

__all__ = ["Speedup", "bandwidth_estimate", "compare_settings", "compare_sizes"]

_ALIKE = 0.01  # of the mean message, and of each class's share


@dataclass(frozen=True)
class Speedup:
    """Time now over time then, for the same bytes; above 1 is faster.

    `ratio` is the best estimate at the least favourable sizes. `low` and `high` bound it, what is not known of the
    sizes included, and are NaN where there is no interval. `low_waiting` is `low` where all of the scatter of now's
    durations were waiting, and none of the other's: waiting that another setting would not save.
    `size_penalty` is by how much the sizes have lowered it.
    """

    ratio: float
    low: float
    high: float
    low_waiting: float
    size_penalty: float = 1.0


def compare_settings(now: Measurement, other: Measurement, confidence: float) -> Speedup:
    """`other`'s algorithm and protocol for `now`'s messages.

    With one setting a longer message takes no less time, and has no less bandwidth. So with r the ratio of the
    lengths, now over other, `other`'s setting would take between min(1, r) and max(1, r) times what it took. What is
    not known of either length widens that.
    """
    if _same_messages(now, other):
        return _speedup(now, other, confidence, 0.0, 0.0)
    least = math.log(now.message_bytes[0] / other.message_bytes[1])
    most = math.log(now.message_bytes[1] / other.message_bytes[0])
    return _speedup(now, other, confidence, -max(0.0, most), -min(0.0, least))


def compare_sizes(now: Measurement, other: Measurement, confidence: float) -> Speedup:
    """The bytes of `now` in messages as long as `other`'s: bus bandwidth then over bus bandwidth now."""
    if now.bus_bytes is None or other.bus_bytes is None:
        return Speedup(math.nan, math.nan, math.nan, math.nan)
    low = math.log(other.bus_bytes[0] / now.bus_bytes[1])
    high = math.log(other.bus_bytes[1] / now.bus_bytes[0])
    return _speedup(now, other, confidence, low, high)


def _speedup(now: Measurement, other: Measurement, confidence: float, low: float, high: float) -> Speedup:
    ratio = math.exp(now.log_latency.mean - other.log_latency.mean + low)
    interval = difference_interval(now.log_latency, other.log_latency, confidence)
    if interval is None:
        return Speedup(ratio, math.nan, math.nan, math.nan, math.exp(-low))
    held = 1.0 - waiting_per_scatter(now.hardware.nranks) * now.scatter_ratio
    lowest = math.exp(interval[0] + low)
    return Speedup(ratio, lowest, math.exp(interval[1] + high), lowest * max(held, 0.0), max(1.0, math.exp(-low)))


def _same_messages(a: Measurement, b: Measurement) -> bool:
    """Whether two runs sent the same: the same share of operations in each class, of the same bytes altogether.

    Within one run that says nothing: NCCL chooses by size, so that two settings of one communicator had two sizes.
    """
    if a.hardware.job_id == b.hardware.job_id or a.size_bytes != b.size_bytes:
        return False
    if not abs(a.op_message_bytes - b.op_message_bytes) <= _ALIKE * b.op_message_bytes:
        return False
    shares, others = dict(a.sizes_per_operation), dict(b.sizes_per_operation)
    return all(abs(shares.get(size, 0.0) - others.get(size, 0.0)) <= _ALIKE for size in shares.keys() | others.keys())


def bandwidth_estimate(row: Measurement) -> Estimate | None:
    """Of the logarithm of bytes per second, at the middle of what the mean message may be; None without one."""
    if row.bus_bytes is None or row.bus_bytes[0] <= 0:
        return None
    middle = 0.5 * (math.log(row.bus_bytes[0]) + math.log(row.bus_bytes[1]))
    return Estimate(middle - row.log_latency.mean, row.log_latency.error, row.log_latency.degrees)
