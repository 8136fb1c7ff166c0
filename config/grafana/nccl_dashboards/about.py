# SPDX-License-Identifier: Apache-2.0
"""What a panel shows and in which unit: from the metric's family where it shows one."""

from dataclasses import dataclass
from typing import Final

from nccl_endpoint.family import MetricFamily

__all__ = ["About", "age", "gauge", "rate"]

# Units as Grafana calls them; what is not here is a plain number.
_VALUE: Final = {"seconds": "s", "bytes": "bytes", "ratio": "percentunit"}
_RATE: Final = {
    "seconds": "percentunit",  # seconds a second
    "bytes": "Bps",
    "operations": "ops",
    "requests": "reqps",
    "queries": "reqps",
}


@dataclass(frozen=True)
class About:
    """A panel's unit, as Grafana calls it, and its description."""

    unit: str
    description: str


def gauge(family: MetricFamily, note: str = "") -> About:
    """Of a gauge's value, or of a histogram's quantiles."""
    return About(_VALUE.get(family.unit, "short"), _description(family, note))


def rate(family: MetricFamily, note: str = "") -> About:
    """Of a counter, per second."""
    return About(_RATE.get(family.unit, "cps"), _description(family, note))


def age(family: MetricFamily, note: str = "") -> About:
    """Of how long a Unix time is ago."""
    return About("s", "How long ago: " + _description(family, note))


def _description(family: MetricFamily, note: str) -> str:
    return f"{family.help} {note}".strip()
