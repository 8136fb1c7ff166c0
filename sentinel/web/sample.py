"""One value of a metric of the daemon."""

from nccl_endpoint.family import MetricFamily

from sentinel.web.histogram import Histogram

__all__ = ["Sample"]

Sample = tuple[MetricFamily, tuple[str, ...], float | Histogram]
"""A family, its labels' values and its value; only a histogram's is a Histogram."""
