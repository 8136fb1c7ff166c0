"""What one tick of detection costs: from a snapshot in arrays to verdicts, on one core.

Every rank is in four communicators, with eight cells in each. Prints the median tick for each size, with a stored
baseline and without one, with series that stay and with some that come and go, and how it grows from the smallest size
to the largest. Run by `make bench-tick`.
"""

import argparse
import copy
import json
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from rich.console import Console
from rich.table import Table
from scene import NOISES, TICK_SECONDS
from simulator.cluster import Cluster
from simulator.presets import four_communicators

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.model.snapshot import CellTable, Snapshot

RANKS = (1024, 8192)
LARGEST = RANKS[-1]
BAR_SECONDS = 0.25  # at the largest size, while the series stay
_LEARNT_TICKS = 8
_FIRST_TICKS = 3  # left out: nothing to subtract from yet, or series that are new
_ABSENT_RATIO = 0.001  # of the cells of ranks, where some come and go


@dataclass(frozen=True)
class Cost:
    """Processor seconds of one tick, median and largest, at one size. `cells` are those of all ranks."""

    ranks: int
    cells: int
    baseline: str
    series: str
    ticks: int
    median_seconds: float
    largest_seconds: float

    @property
    def setting(self) -> tuple[str, str]:
        """What else was the same at another size."""
        return self.baseline, self.series


def costs(ranks: int, ticks: int, seed: int) -> Iterator[Cost]:
    """Of detectors that are fed the same snapshots."""
    settings, random = DetectionSettings(), np.random.default_rng(seed)
    cluster = Cluster(four_communicators(ranks), NOISES["iid"], seed, TICK_SECONDS)
    builder = BaselineBuilder(settings.baseline)
    for snapshot in cluster.snapshots(_LEARNT_TICKS):
        builder.add(snapshot)
    stored = builder.build()
    snapshots = list(cluster.snapshots(_FIRST_TICKS + ticks))
    some = [_without_some(snapshot, random) for snapshot in snapshots]
    for baseline, series, fed in (
        ("stored", "stay", snapshots),
        ("none", "stay", snapshots),
        ("stored", "come and go", some),
    ):
        seconds = list(_steps(Detector(settings, stored if baseline == "stored" else None), fed))[_FIRST_TICKS:]
        cells = len(snapshots[-1].cells.comm)
        yield Cost(ranks, cells, baseline, series, ticks, statistics.median(seconds), max(seconds))


def _without_some(snapshot: Snapshot, random: np.random.Generator) -> Snapshot:
    kept = random.random(len(snapshot.cells.comm)) >= _ABSENT_RATIO
    cells = CellTable(*(getattr(snapshot.cells, each.name)[kept] for each in fields(CellTable)))
    return replace(snapshot, cells=cells)


def _steps(detector: Detector, snapshots: Iterable[Snapshot]) -> Iterator[float]:
    for each in snapshots:
        # A source decodes each answer into arrays of its own.
        snapshot = copy.deepcopy(each, {id(each.vocabulary): each.vocabulary})
        begin = time.process_time()
        detector.step(snapshot)
        yield time.process_time() - begin


def main() -> int:
    """Exit status 1 when the bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ticks", type=int, default=12, help="that are timed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.ticks < 1:
        parser.error("--ticks: at least 1")
    measured = [cost for ranks in RANKS for cost in costs(ranks, options.ticks, options.seed)]
    slowest = max(cost.median_seconds for cost in measured if cost.ranks == LARGEST and cost.series == "stay")
    if options.json:
        sys.stdout.write(json.dumps([asdict(cost) for cost in measured]) + "\n")
    else:
        _report(measured, slowest)
    return 0 if slowest <= BAR_SECONDS else 1


def _report(measured: list[Cost], slowest: float) -> None:
    console = Console(width=120)
    table = Table("ranks", "cells", "baseline", "series", "ticks", "median, s", "largest, s", "growth")
    smallest = {cost.setting: cost for cost in measured if cost.ranks == RANKS[0]}
    for cost in measured:
        start = smallest[cost.setting]
        growth = f"{cost.median_seconds / start.median_seconds:.1f} times for {cost.ranks // start.ranks} times"
        table.add_row(
            f"{cost.ranks:,}",
            f"{cost.cells:,}",
            *cost.setting,
            str(cost.ticks),
            f"{cost.median_seconds:.3f}",
            f"{cost.largest_seconds:.3f}",
            "" if cost is start else growth,
        )
    console.print(table)
    verdict = "met" if slowest <= BAR_SECONDS else "MISSED"
    console.print(f"bar: {BAR_SECONDS:g} s a tick at {LARGEST:,} ranks: {slowest:.3f} s, {verdict}")


if __name__ == "__main__":
    sys.exit(main())
