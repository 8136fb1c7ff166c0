"""The figure of a strategy: latency and bus bandwidth by message size, from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["Curve", "OperationPanel", "strategy_figure"]

Floats = npt.NDArray[np.float64]

# Colours of Okabe and Ito (2008), which people with any kind of colour vision tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D")
# Names come from jobs: a dollar sign in one is no formula.
_STYLE: Mapping[Any, Any] = {"text.parse_math": False, "text.usetex": False, "font.size": 9.0}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True)
class Curve:
    """One setting on one hardware. Columns of both are value, low, high (NaN where not known); shape (n, 3).

    sizes: shape (n,), bytes, ascending.
    """

    label: str
    size_bytes: Floats
    latency_seconds: Floats
    bus_bandwidth_bytes_per_second: Floats


@dataclass(frozen=True)
class OperationPanel:
    """One operation: a column of the figure."""

    title: str
    curves: tuple[Curve, ...]


def strategy_figure(panels: Sequence[OperationPanel], title: str) -> Figure:
    """Latency above bus bandwidth, a column an operation; there has to be one. Bars are confidence intervals."""
    with mpl.rc_context(dict(_STYLE)):
        figure = Figure(figsize=(2.5 + 4.5 * len(panels), 7.5), layout="constrained")
        grid = figure.subplots(2, len(panels), squeeze=False, sharex="col")
        for column, panel in enumerate(panels):
            latency, bandwidth = grid[0, column], grid[1, column]
            latency.set_title(panel.title)
            for number, curve in enumerate(panel.curves):
                _draw(latency, curve.size_bytes, 1e6 * curve.latency_seconds, curve.label, number)
                _draw(bandwidth, curve.size_bytes, 1e-9 * curve.bus_bandwidth_bytes_per_second, curve.label, number)
            latency.set_xscale("log", base=2)
            latency.set_yscale("log")
            bandwidth.set_yscale("log")
            bandwidth.xaxis.set_major_formatter(lambda size, _: _size_text(size))
            bandwidth.set_xlabel("message, as NCCL is given it on one rank")
            for axes in (latency, bandwidth):
                axes.grid(alpha=0.3, lw=0.5)
            latency.legend(frameon=False, fontsize="small")
        grid[0, 0].set_ylabel("latency (us)")
        grid[1, 0].set_ylabel("bus bandwidth (GB/s)")
        figure.suptitle(title, fontsize=11)
    return figure


def _draw(axes: Axes, sizes: Floats, values: Floats, label: str, number: int) -> None:
    drawn = np.isfinite(values[:, 0])
    if not drawn.any():
        return
    value, low, high = values[drawn].T
    bars = np.nan_to_num(np.stack([value - low, high - value]))
    axes.errorbar(
        sizes[drawn],
        value,
        yerr=np.maximum(bars, 0.0),
        label=label,
        color=_COLOURS[number % len(_COLOURS)],
        marker=_MARKERS[number // len(_COLOURS) % len(_MARKERS)],
        ms=4,
        lw=1.2,
        capsize=2,
    )


def _size_text(size: float) -> str:
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.4g} {_UNITS[unit]}"
