"""The figure of an incident, from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure

from sentinel.plot.course import PEERS_PERCENTILES, Course

__all__ = ["Caption", "Panel", "incident_figure"]

Floats = npt.NDArray[np.float64]

# Colours of Okabe and Ito (2008), which people with any kind of colour vision tell apart.
_CULPRITS = ("#D55E00", "#CC79A7", "#E69F00", "#000000")
_STYLES = ("-", "--")
_PEERS = "#0072B2"
_NORMAL = "#009E73"
_INCIDENT = "#F0E442"
# Names come from jobs: a dollar sign in one is no formula.
_STYLE: Mapping[Any, Any] = {"text.parse_math": False, "text.usetex": False, "font.size": 9.0}
_UNITS = ((1e-3, 1e6, "us"), (1.0, 1e3, "ms"))
# What stands below the axis when its ticks are years, months, days, hours, minutes, seconds.
_DATES = ["UTC", "%Y UTC", "%Y-%m UTC", *["%Y-%m-%d UTC"] * 2, "%Y-%m-%d %H:%M UTC"]
_LEADING_WIDTH = 2.0  # of the other panels'


@dataclass(frozen=True)
class Panel:
    """One cell: a column of the figure. `normal`: learnt lateness of the culprit and its spread, seconds."""

    title: str
    duration_seconds: Course
    lateness_seconds: Course
    normal: tuple[float, float] | None = None


@dataclass(frozen=True)
class Caption:
    """What is said about the whole. Times are Unix seconds; `ended_at` is None while the incident goes on.

    `culprits` names the columns of each course's `culprits`.
    """

    title: str
    subtitle: str
    culprits: tuple[str, ...]
    started_at: float
    detected_at: float
    ended_at: float | None


def incident_figure(times: Floats, panels: Sequence[Panel], launched_rate: Course | None, caption: Caption) -> Figure:
    """Durations above lateness, a column a panel, the first one wider; below them collectives launched per second.

    times: shape (n,), Unix seconds, as in the courses. There has to be a panel or a `launched_rate`.
    """
    with mpl.rc_context(dict(_STYLE)):
        columns, rows = max(1, len(panels)), 2 * bool(panels) + (launched_rate is not None)
        figure = Figure(figsize=(7.5 + 3.5 * (columns - 1), 1.6 + 2.6 * rows), layout="constrained")
        widths = [_LEADING_WIDTH, *[1.0] * (columns - 1)] if columns > 1 else [1.0]
        grid = figure.add_gridspec(rows, columns, width_ratios=widths)
        instants = date2num(np.round(times * 1e3).astype("datetime64[ms]"))
        first: Axes | None = None
        for column, panel in enumerate(panels):
            duration = figure.add_subplot(grid[0, column], sharex=first)
            lateness = figure.add_subplot(grid[1, column], sharex=first or duration)
            first = first or duration
            duration.set_title(panel.title)
            _draw_seconds(duration, instants, panel.duration_seconds, caption, None)
            _draw_seconds(lateness, instants, panel.lateness_seconds, caption, panel.normal)
            duration.set_ylim(bottom=0.0)
            duration.tick_params(labelbottom=False)
            duration.xaxis.get_offset_text().set_visible(False)
            if column == 0:
                duration.set_ylabel(f"mean duration ({duration.get_ylabel()})")
                lateness.set_ylabel(f"lateness ({lateness.get_ylabel()})")
        if launched_rate is not None:
            progress = figure.add_subplot(grid[rows - 1, :], sharex=first)
            first = first or progress
            _draw(progress, instants, launched_rate, 1.0, caption)
            progress.set_ylim(bottom=0.0)
            progress.set_ylabel("collectives launched per second")
        assert first is not None  # noqa: S101 (there is a panel or a rate)
        for axes in figure.axes:
            _mark(axes, times, caption)
        _explain(figure, caption)
    return figure


def _draw_seconds(
    axes: Axes, instants: Floats, course: Course, caption: Caption, normal: tuple[float, float] | None
) -> None:
    largest = np.nanmax(np.abs(np.hstack([course.culprits, course.peers])), initial=0.0)
    factor, unit = next(((factor, unit) for limit, factor, unit in _UNITS if largest < limit), (1.0, "s"))
    if normal is not None:
        lateness, spread = (factor * value for value in normal)
        axes.axhspan(lateness - spread, lateness + spread, color=_NORMAL, alpha=0.25, lw=0, label="its learnt spread")
        axes.axhline(lateness, color=_NORMAL, ls="--", lw=1.0, label="its learnt normal")
    _draw(axes, instants, course, factor, caption)
    axes.set_ylabel(unit)


def _draw(axes: Axes, instants: Floats, course: Course, factor: float, caption: Caption) -> None:
    """A value holds for the window before its instant: hence steps."""
    low, lower, middle, upper, high = (factor * course.peers).T
    of = "peers" if caption.culprits else "ranks"
    inner = f"{of}, {PEERS_PERCENTILES[1]}–{PEERS_PERCENTILES[3]}%"
    axes.fill_between(instants, low, high, step="pre", color=_PEERS, alpha=0.15, lw=0, label=f"{of}, min–max")
    axes.fill_between(instants, lower, upper, step="pre", color=_PEERS, alpha=0.35, lw=0, label=inner)
    axes.plot(instants, middle, drawstyle="steps-pre", color=_PEERS, lw=1.2, label=f"{of}, median")
    for column, name in enumerate(caption.culprits):
        color, style = _CULPRITS[column % len(_CULPRITS)], _STYLES[column // len(_CULPRITS) % len(_STYLES)]
        values = factor * course.culprits[:, column]
        axes.plot(instants, values, drawstyle="steps-pre", color=color, ls=style, lw=1.6, label=name)


def _mark(axes: Axes, times: Floats, caption: Caption) -> None:
    """The incident's interval, when it was detected, and the axis of time."""
    end = caption.ended_at if caption.ended_at is not None else max(float(times[-1]), caption.detected_at)
    start, detected, end = (
        date2num(np.datetime64(round(t * 1e3), "ms"))
        for t in (
            caption.started_at,
            caption.detected_at,
            end,
        )
    )
    axes.axvspan(start, end, color=_INCIDENT, alpha=0.25, lw=0, zorder=0, label="the incident")
    axes.axvline(detected, color="#555555", ls=":", lw=1.0, label="detected")
    locator = AutoDateLocator(minticks=3, maxticks=7)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, offset_formats=_DATES))
    axes.margins(x=0.01)
    axes.grid(alpha=0.3, lw=0.5)


def _explain(figure: Figure, caption: Caption) -> None:
    """Title and legend, each label once."""
    figure.suptitle(f"{caption.title}\n{caption.subtitle}", fontsize=11)
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=5, frameon=False)
