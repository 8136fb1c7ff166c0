"""A strategy's picture, from measurements to a file."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sentinel.advise.comparison import bandwidth_estimate
from sentinel.advise.measurement import CONFIDENCE, Measurement
from sentinel.cli.strategy_text import hardware_text
from sentinel.plot.picture_file import write_picture

__all__ = ["draw_strategy"]

_OPERATIONS_SHOWN = 4
_CURVES_SHOWN = 8


def draw_strategy(measurements: Sequence[Measurement], title: str, path: Path) -> None:
    """The operations in which most time was spent, and of each the settings and jobs. ConfigError."""
    write_picture(_figure(measurements, title), path)


def _figure(measurements: Sequence[Measurement], title: str) -> Any:
    from sentinel.plot.strategy import Curve, OperationPanel, strategy_figure  # it needs the optional matplotlib

    panels = []
    for op, rows in _by_time(measurements, lambda row: row.op)[:_OPERATIONS_SHOWN]:
        curves = []
        grouped = _by_time(rows, lambda row: (row.hardware, row.setting))
        for _, unordered in grouped[:_CURVES_SHOWN]:
            points = sorted(unordered, key=lambda row: row.size_bytes)
            first = points[0]
            label = f"{' '.join(filter(None, first.setting))}, {hardware_text(first.hardware)}"
            job = first.hardware.job_id
            curves.append(
                Curve(
                    _printable(f"{label}, job {job}" if job else label),
                    np.array([float(max(1, row.size_bytes)) for row in points]),
                    np.array([_latency(row) for row in points]),
                    np.array([_bandwidth(row) for row in points]),
                )
            )
        more = f" ({len(grouped) - _CURVES_SHOWN} more are not drawn)" if len(grouped) > _CURVES_SHOWN else ""
        panels.append(OperationPanel(_printable(f"{op}{more}"), tuple(curves)))
    return strategy_figure(panels, title)


def _by_time(
    rows: Sequence[Measurement], key: Callable[[Measurement], Hashable]
) -> list[tuple[Hashable, list[Measurement]]]:
    """Rows that have the same key, those first in which most time was spent."""
    groups: dict[Hashable, list[Measurement]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return sorted(groups.items(), key=lambda each: -sum(row.time_ratio for row in each[1]))


def _latency(row: Measurement) -> tuple[float, float, float]:
    low, high = row.log_latency.interval(CONFIDENCE) or (math.nan, math.nan)
    return math.exp(row.log_latency.mean), math.exp(low), math.exp(high)


def _bandwidth(row: Measurement) -> tuple[float, float, float]:
    estimate, (_, low, high) = bandwidth_estimate(row), _latency(row)
    if estimate is None or row.bus_bytes is None:
        return math.nan, math.nan, math.nan
    return math.exp(estimate.mean), row.bus_bytes[0] / high, row.bus_bytes[1] / low


def _printable(text: str) -> str:
    """Names come from jobs."""
    return "".join(character if character.isprintable() else "?" for character in text)
