"""A metric of the daemon, as Prometheus knows it."""

from dataclasses import dataclass
from typing import Literal

from sentinel.web.histogram import Histogram

__all__ = ["Family", "Sample"]


@dataclass(frozen=True)
class Family:
    """One metric family; `labels` in the order in which values are given."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    labels: tuple[str, ...]
    help: str


Sample = tuple[Family, tuple[str, ...], float | Histogram]
"""A family, its labels' values and its value; only a histogram's is a Histogram."""
