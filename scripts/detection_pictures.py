# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/detection.md: simulated jobs (tests/simulator), judged by the detectors themselves.

Run by `make pictures`. Needs tests/ on the path, and matplotlib.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.noise import Normal
from simulator.presets import fsdp
from simulator.regimes import Restart

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect import late_rank
from sentinel.detect.detector import Detector
from sentinel.detect.own_evidence import OwnEvidence, OwnReading
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident

Floats = npt.NDArray[np.float64]

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "images"
TICK_SECONDS = 30.0
LEARNT_TICKS = 120
RANKS = 16
# Of Okabe and Ito (2008), as in the pictures of incidents.
LATE, PEERS, NORMAL, INCIDENT, TRANSFER = "#D55E00", "#0072B2", "#009E73", "#F0E442", "#999999"
STYLE: dict[Any, Any] = {"font.size": 9.0, "svg.hashsalt": "nccl-sentinel", "axes.grid": False}


@dataclass(frozen=True)
class Seen:
    """One tick. By rank: lateness and duration in the large all-gather, the CUSUM, and what goes into it.

    That is the distance from the rank's own normal and from its peers, in standard deviations.
    """

    minutes: float
    lateness_seconds: Floats
    duration_seconds: Floats
    score: Floats
    sigmas: Floats
    stands_out: Floats
    threshold: float
    open: tuple[Incident, ...]


class Watched:
    """A job that the detectors learn and then look at, as the daemon does."""

    def __init__(self, *events: LateRank | Restart, ranks: int = RANKS, machines: int = 0) -> None:
        self.cluster = Cluster(fsdp(ranks), (Normal(0.02),), seed=5, tick_seconds=TICK_SECONDS, machines=machines)
        self.cluster.add(*events)
        settings = DetectionSettings()
        builder = BaselineBuilder(settings.baseline)
        for snapshot in self.cluster.snapshots(LEARNT_TICKS):
            builder.add(snapshot)
        self._scores: list[tuple[OwnReading, float]] = []
        self._detector = _listening(self._scores, lambda: Detector(settings, builder.build()))
        self._tracker = IncidentTracker(settings)

    def ticks(self, count: int) -> list[Seen]:
        """The next ones. Minutes are from the end of what was learnt."""
        return [each for snapshot in self.cluster.snapshots(count) if (each := self._look(snapshot)) is not None]

    def _look(self, snapshot: Any) -> Seen | None:
        self._scores.clear()
        changes = self._tracker.step(self._detector.step(snapshot))
        lateness = self._detector.lateness
        if lateness is None or not self._scores:
            return None
        text = snapshot.vocabulary.text
        rows = [place for place, op in enumerate(lateness.op.tolist()) if text(op) == "AllGather"]
        ranks = lateness.rank[rows]
        ordered = np.array(rows)[np.argsort(ranks)]
        (reading, threshold), *_ = self._scores
        return Seen(
            minutes=(snapshot.time - self.cluster.start - LEARNT_TICKS * TICK_SECONDS) / 60,
            lateness_seconds=lateness.wait_seconds[ordered],
            duration_seconds=lateness.mean_seconds[ordered],
            score=reading.sum,
            sigmas=reading.sigmas,
            stands_out=reading.stands_out,
            threshold=threshold,
            open=(*changes.opened, *changes.ongoing),
        )


def _listening(scores: list[tuple[OwnReading, float]], build: Callable[[], Detector]) -> Detector:
    """A detector that tells what its CUSUM says of every rank, not only of those that it accuses."""

    class Telling(OwnEvidence):
        def step(self, *arguments: Any) -> OwnReading:
            reading = super().step(*arguments)
            scores.append((reading, arguments[6]))
            return reading

    late_rank.OwnEvidence = Telling  # type: ignore[misc]
    try:
        return build()
    finally:
        late_rank.OwnEvidence = OwnEvidence  # type: ignore[misc]


def named(seen: list[Seen]) -> set[tuple[int, ...]]:
    """Who was accused at any of these ticks."""
    return {incident.culprit.ranks for tick in seen for incident in tick.open}


def expect(holds: bool, found: object) -> None:
    """A picture that would show something else than its text says is not drawn."""
    if not holds:
        raise ValueError(f"the detectors say something else: {found}")


def minutes(value: float) -> float:
    """After the end of what is learnt, as seconds of the simulation."""
    return LEARNT_TICKS * TICK_SECONDS + 60 * value


def arrivals() -> Figure:
    """Why the rank that all wait for has the shortest collectives."""
    late, ranks = 5, 8
    job = Watched(LateRank(rank=late, cost_ratio=0.1, begin=minutes(5), end=minutes(10)), ranks=ranks)
    seen = job.ticks(20)
    panels = {"all is well": seen[8], f"rank {late} comes late": seen[16]}
    expect(named(seen[16:17]) == {(late,)}, seen[16].open)
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for (title, tick), ax in zip(panels.items(), axes, strict=True):
        durations = tick.duration_seconds * 1e3
        transfer = durations.min()
        names = range(ranks)
        ax.barh(names, durations - transfer, left=-durations, color=PEERS, height=0.7)
        ax.barh(names, [transfer] * ranks, left=-transfer, color=TRANSFER, height=0.7)
        for rank in names:
            color = LATE if rank == late and named([tick]) else "black"
            ax.text(-durations[rank] - 1, rank, f"{durations[rank]:.1f} ms", color=color, ha="right", va="center")
        ax.axvline(0, color="black", lw=0.8)
        ax.set_title(title)
        ax.set_xlabel("ms before all end together")
    axes[0].invert_yaxis()
    axes[0].set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    low, _ = axes[0].get_xlim()
    axes[0].set_xlim(low * 1.2, 1)
    for color, label in ((PEERS, "waits for the last"), (TRANSFER, "the transfer")):
        axes[1].bar(0, 0, color=color, label=label)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Mean AllGather of a tick, by rank: the bar is the time that the rank is inside")
    return figure


def score() -> Figure:
    """What a spike adds up to, and what a small shift does."""
    late, other = 5, 11
    spike = LateRank(rank=other, cost_ratio=0.2, begin=minutes(10), end=minutes(10.5))
    shift = LateRank(rank=late, cost_ratio=0.02, begin=minutes(20), end=minutes(35))
    seen = Watched(spike, shift).ticks(90)
    expect(named(seen) == {(late,)}, named(seen))
    times = [tick.minutes for tick in seen]
    figure = Figure(figsize=(8.0, 5.6), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    opened = [tick.minutes for tick in seen if tick.open]
    for ax in (top, middle, bottom):
        ax.axvspan(20, 35, color=NORMAL, alpha=0.15, lw=0, label=f"rank {late} is late by 2% of a step")
        ax.axvspan(min(opened), max(opened), ymax=0.06, color=INCIDENT, lw=0, label="the incident is open")
    lines = (
        np.array([tick.lateness_seconds * 1e3 for tick in seen]),
        np.array([np.fmin(tick.sigmas, tick.stands_out) for tick in seen]),
        np.array([tick.score for tick in seen]),
    )
    others = [rank for rank in range(RANKS) if rank not in (late, other)]
    for ax, line in zip((top, middle, bottom), lines, strict=True):
        low, high = line[:, others].min(axis=1), line[:, others].max(axis=1)
        ax.fill_between(times, low, high, step="pre", color=TRANSFER, lw=0, label="the others, min–max")
        ax.plot(times, line[:, late], drawstyle="steps-pre", color=LATE, lw=1.6, label=f"rank {late}")
        ax.plot(times, line[:, other], drawstyle="steps-pre", color=PEERS, lw=1.2, label=f"rank {other}: one spike")
    bottom.axhline(seen[0].threshold, color="black", ls="--", lw=1, label="threshold")
    top.set_ylabel("lateness (ms)")
    middle.set_ylabel("from normal and peers\n(standard deviations)")
    bottom.set_ylabel("CUSUM")
    bottom.set_xlabel("minutes")
    handles, labels = bottom.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def hardware() -> Figure:
    """The same lateness by rank and by GPU: what moves and what stays."""
    late, moved = 3, 11
    fault = LateRank(rank=late, cost_ratio=0.1, begin=minutes(5), follows_hardware=True)
    seen = Watched(fault, Restart(begin=minutes(15), machines=(1, 0)), machines=2).ticks(60)
    before, after = [[tick for tick in seen if (tick.minutes > 15) is later] for later in (False, True)]
    expect(named(before) == {(late,)}, named(before))
    (last,) = (each for each in after[-1].open if each.culprit.ranks == (moved,))
    expect(last.evidence["follows"] == "gpu", last.evidence)
    width = round(seen[-1].minutes / (TICK_SECONDS / 60))
    by_rank = np.full((RANKS, width), np.nan)
    by_gpu = by_rank.copy()
    for tick in seen:
        column = round(tick.minutes / (TICK_SECONDS / 60)) - 1
        by_rank[:, column] = tick.lateness_seconds * 1e3
        # After the restart each of the two machines has the other's ranks.
        by_gpu[:, column] = np.roll(by_rank[:, column], RANKS // 2 if tick.minutes > 15 else 0)
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    limit = float(np.nanmax(by_rank))
    for ax, table, what in zip(axes, (by_rank, by_gpu), ("global rank", "GPU (machine:number)"), strict=True):
        extent = (0.0, seen[-1].minutes, RANKS - 0.5, -0.5)
        image = ax.imshow(table, aspect="auto", extent=extent, cmap="cividis", vmin=0, vmax=limit, interpolation="none")
        ax.axvline(15.5, color="white", lw=4)
        ax.text(15.5, -0.8, "restart", ha="center", va="bottom", fontsize=8)
        ax.set_ylabel(what)
        ax.set_xlabel("minutes")
    axes[1].set_yticks(range(0, RANKS, 2), [f"{place // 8}:{place % 8}" for place in range(0, RANKS, 2)])
    figure.colorbar(image, ax=axes, label="lateness (ms)")
    return figure


FIGURES = {"detection-arrivals": arrivals, "detection-score": score, "detection-hardware": hardware}


def draw(directory: Path) -> None:
    """Every picture, as `NAME.svg`. Same code, same libraries, same bytes."""
    with mpl.rc_context(STYLE):
        for name, figure in FIGURES.items():
            figure().savefig(directory / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
