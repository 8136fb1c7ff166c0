"""What the detectors find in simulated jobs, whom they name, how fast, and what they say of healthy ones.

Incidents are simulated in jobs of 64 to 8,192 ranks, on every noise; then healthy jobs of 1,024 ranks run for `--days`
in all on each. Prints tables, or one JSON object. Run by `make bench-detect`; `--quick` takes a minute and proves
little. `--huge` plays jobs of 32,768 and 100,000 ranks instead, with faults of 5% and more, and no clean time.
"""

import argparse
import json
import math
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict
from itertools import chain, cycle
from typing import TypeVar

from clean import Clean, watch
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn
from rich.table import Table
from scene import COSTS, FAULTS, LAYOUTS, NOISES, Outcome, Scene, play

from sentinel.config.detection import DetectionSettings

T = TypeVar("T")
SETTINGS = DetectionSettings()
RANKS = {64: 4, 256: 2, 1024: 1}  # and how many jobs of each layout and noise
LARGE = 8192  # one job of each noise, in turn of each layout
HUGE = (32_768, 100_000)  # one job of each noise, learnt for half an hour
HUGE_LEARNT_TICKS = 60
FAULTS_PER_JOB = 12
# Clean time says nothing without power, which the incidents of the same noise show.
CLEAN_RANKS = 1024
CLEAN_JOB_DAYS = 5.0  # at most, of one job: several are watched at once
SURE_COST, FAST_COST = 0.05, 0.10


def scenes(seed: int, jobs: dict[int, int], *, has_large: bool) -> Iterator[Scene]:
    """Every kind of fault and every cost in turn, on ranks drawn by chance."""
    draw = random.Random(seed)  # noqa: S311
    menu = [(fault, cost) for fault in FAULTS for cost in ((0.0,) if fault == "stall" else COSTS)]
    place = 0
    small = (
        (ranks, layout, noise)
        for ranks, count in jobs.items()
        for layout in LAYOUTS
        for noise in NOISES
        for _ in range(count)
    )
    large = ((LARGE, layout, noise) for noise, layout in zip(NOISES, cycle(LAYOUTS), strict=False)) if has_large else ()
    for ranks, layout, noise in chain(small, large):
        chosen = [menu[(place + number) % len(menu)] for number in range(FAULTS_PER_JOB)]
        place += FAULTS_PER_JOB
        faults = tuple((fault, draw.randrange(ranks), cost) for fault, cost in chosen)
        yield Scene(layout, ranks, noise, draw.randrange(1 << 30), faults)


def huge_scenes(seed: int) -> Iterator[Scene]:
    """Faults that nobody should miss, on ranks drawn by chance."""
    draw = random.Random(seed)  # noqa: S311
    menu = [(fault, cost) for cost in COSTS if cost >= SURE_COST for fault in FAULTS if fault != "stall"] + [
        ("stall", 0.0)
    ]
    for ranks in HUGE:
        place = 0
        for noise, layout in zip(NOISES, cycle(LAYOUTS), strict=False):
            chosen = [menu[(place + number) % len(menu)] for number in range(FAULTS_PER_JOB)]
            place += FAULTS_PER_JOB
            faults = tuple((fault, draw.randrange(ranks), cost) for fault, cost in chosen)
            yield Scene(layout, ranks, noise, draw.randrange(1 << 30), faults, HUGE_LEARNT_TICKS)


def outcomes_of(scene: Scene) -> list[Outcome]:
    """All of one job."""
    return list(play(scene, SETTINGS))


def clean_of(noise: str, days: float, seed: int) -> Clean:
    """Clean time of one job."""
    return watch(noise, CLEAN_RANKS, days, seed, SETTINGS)


def by_noise(cleans: Iterable[Clean]) -> list[Clean]:
    """The jobs of each noise together."""
    jobs: dict[str, list[Clean]] = defaultdict(list)
    for each in cleans:
        jobs[each.noise].append(each)
    return [
        Clean(
            noise,
            CLEAN_RANKS,
            sum(each.days for each in group),
            tuple(chain.from_iterable(each.verdicts for each in group)),
        )
        for noise, group in jobs.items()
    ]


def main() -> int:
    """Exit status 1 when a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=float, default=30.0, help="of clean time on each noise")
    parser.add_argument("--most-ranks", type=int, default=LARGE, help="no larger jobs")
    parser.add_argument("--quick", action="store_true", help="few jobs, and hours of clean time")
    parser.add_argument("--huge", action="store_true", help="the largest jobs alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    jobs = {ranks: 1 if options.quick else count for ranks, count in RANKS.items() if ranks <= options.most_ranks}
    if options.quick:
        jobs = {64: 1}
    days = min(options.days, 0.05) if options.quick else options.days
    if options.huge:
        played_scenes, days = list(huge_scenes(options.seed)), 0.0
    else:
        large = options.most_ranks >= LARGE and not options.quick
        played_scenes = list(scenes(options.seed, jobs, has_large=large))
    console = Console(stderr=True)
    with (
        ProcessPoolExecutor(options.processes) as pool,
        Progress(
            *Progress.get_default_columns(), TimeElapsedColumn(), console=console, disable=not console.is_terminal
        ) as progress,
    ):
        # The large ones first: at the end all processes are busy.
        played: list[Future[list[Outcome]]] = [
            pool.submit(outcomes_of, scene) for scene in sorted(played_scenes, key=lambda each: -each.ranks)
        ]
        clean_jobs = math.ceil(days / CLEAN_JOB_DAYS)
        watched: list[Future[Clean]] = [
            pool.submit(clean_of, noise, days / clean_jobs, options.seed + job)
            for noise in NOISES
            for job in range(clean_jobs)
        ]
        for title, futures in (("incidents", played), ("clean time", watched)):
            for _ in progress.track(as_completed(futures), total=len(futures), description=title):
                pass
    outcomes = [outcome for future in played for outcome in future.result()]
    cleans = by_noise(future.result() for future in watched)
    if options.json:
        document = {"outcomes": [asdict(each) for each in outcomes], "clean": [asdict(each) for each in cleans]}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        report(outcomes, cleans)
    return 0 if all(passed for _, _, passed in bars(outcomes, cleans)) else 1


def report(outcomes: Sequence[Outcome], cleans: Sequence[Clean]) -> None:
    """Tables on stdout."""
    console = Console(width=140)
    console.print(f"{len(outcomes)} simulated incidents; false: incidents that named somebody or something else")
    for title, key in (
        ("by fault and cost", lambda each: (each.fault, f"{each.cost_ratio:.0%}" if each.cost_ratio else "")),
        ("by ranks, from 5%", lambda each: (f"{each.scene.ranks:,}", "")),
        ("by layout, from 5%", lambda each: (each.scene.layout, "")),
        ("by noise, from 5%", lambda each: (each.scene.noise, "")),
    ):
        shown = outcomes if "cost" in title else [each for each in outcomes if _is_sure(each)]
        console.print(_table(title, shown, key))
    table = Table("noise", "ranks", "days", "incidents", "in 30 days", "what was said", title="clean time")
    for clean in cleans:
        said = ", ".join(sorted(set(clean.verdicts)))
        table.add_row(
            clean.noise, f"{clean.ranks:,}", f"{clean.days:g}", str(len(clean.verdicts)), f"{clean.per_month:.1f}", said
        )
    console.print(table)
    table = Table("bar", "measured", "", title="bars")
    for bar, measured, passed in bars(outcomes, cleans):
        table.add_row(bar, measured, "met" if passed else "MISSED")
    console.print(table)


def bars(outcomes: Sequence[Outcome], cleans: Iterable[Clean]) -> Iterator[tuple[str, str, bool]]:
    """What was promised, what was measured, whether that is enough."""
    sure = [each for each in outcomes if _is_sure(each)]
    named = _share(sure, lambda each: each.ticks is not None)
    yield "rightly named from 5% up: 99.5% or more", f"{named:.2%} of {len(sure)}", named >= 0.995
    for ranks, bar in ((LARGE, 0.99), *((huge, 0.97) for huge in HUGE)):
        large = [each for each in sure if each.scene.ranks == ranks]
        if large:
            named = _share(large, lambda each: each.ticks is not None)
            yield f"rightly named at {ranks:,} ranks: {bar:.0%} or more", f"{named:.2%} of {len(large)}", named >= bar
    fast = [each.ticks for each in sure if each.ticks is not None and each.cost_ratio >= FAST_COST]
    within = _share(fast, lambda ticks: ticks <= 3)
    yield "named within 3 ticks from 10% up", f"{within:.2%}, longest {max(fast, default=0)}", within == 1.0
    for clean in cleans:
        yield (
            f"1 false incident in 30 days or fewer, {clean.noise}",
            f"{clean.per_month:.1f} in {clean.days:g} days",
            clean.per_month <= 1,
        )


def _is_sure(outcome: Outcome) -> bool:
    return outcome.fault == "stall" or outcome.cost_ratio >= SURE_COST


def _table(title: str, outcomes: Iterable[Outcome], key: Callable[[Outcome], tuple[str, str]]) -> Table:
    table = Table("", "cost", "incidents", "found", "rightly named", "precision", "ticks: median", "most", title=title)
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    for names, group in groups.items():
        ticks = sorted(each.ticks for each in group if each.ticks is not None)
        others = sum(each.others for each in group)
        table.add_row(
            *names,
            str(len(group)),
            f"{_share(group, lambda each: each.is_found):.1%}",
            f"{len(ticks) / len(group):.1%}",
            f"{len(ticks) / (len(ticks) + others):.1%}" if ticks or others else "",
            str(ticks[len(ticks) // 2]) if ticks else "",
            str(ticks[-1]) if ticks else "",
        )
    return table


def _share(values: Sequence[T], holds: Callable[[T], bool]) -> float:
    return sum(map(holds, values)) / len(values) if values else 1.0


if __name__ == "__main__":
    sys.exit(main())
