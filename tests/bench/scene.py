"""A simulated job with faults one after the other, and what the detectors make of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from simulator.cluster import Cluster
from simulator.faults import Event, LateAtEachCollective, LateRank, SlowFabric, SlowGpu, SlowLink, Stall, StarvedHost
from simulator.layout import Layout
from simulator.noise import Ar1, Hiccups, Imbalance, LogNormal, Noise, Normal, StudentT
from simulator.presets import fsdp, pipeline, two_level

from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import DetectionSettings
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.incident import Incident, Verdict

TICK_SECONDS = 30.0
LEARNT_TICKS = 240  # two hours
FAULT_TICKS = 10
PAUSE_TICKS = 20  # between two faults: the first has to be over
COSTS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.40)

NOISES: dict[str, tuple[Noise, ...]] = {
    "iid": (Normal(0.02), Imbalance(0.005)),
    "log-normal": (LogNormal(0.02, 1.2), Imbalance(0.005)),
    "AR(1) 0.5": (Normal(0.02), Ar1(0.01, 0.5), Imbalance(0.005)),
    "AR(1) 0.9": (Normal(0.02), Ar1(0.01, 0.9), Imbalance(0.005)),
    "heavy-tailed": (StudentT(0.01, 2.2), Hiccups(), Imbalance(0.005)),
}


def _pipeline(ranks: int) -> Layout:
    return pipeline(stages=4, replicas=ranks // 4)


LAYOUTS = {"fsdp": fsdp, "two-level": two_level, "pipeline": _pipeline}
FAULTS = {
    "late before each step": (LateRank, Verdict.LATE_RANK),
    "late at each collective": (LateAtEachCollective, Verdict.LATE_RANK),
    "slow GPU": (SlowGpu, Verdict.LATE_RANK),
    "slow sender": (SlowLink, Verdict.SLOW_LINK),
    "starved host": (StarvedHost, Verdict.SLOW_LINK),
    "slow fabric": (SlowFabric, Verdict.SLOW_FABRIC),
    "stall": (Stall, Verdict.STALLED),
}


@dataclass(frozen=True)
class Scene:
    """One job: which, how large, how noisy, and the faults that it goes through, each with its rank and cost.

    Before them it is learnt for `learnt_ticks`.
    """

    layout: str
    ranks: int
    noise: str
    seed: int
    faults: tuple[tuple[str, int, float], ...]
    learnt_ticks: int = LEARNT_TICKS


@dataclass(frozen=True)
class Outcome:
    """What became of one fault. `ticks` until it was rightly named; None where it never was.

    `others` are incidents that were opened, or came back, meanwhile and say something else.
    """

    scene: Scene
    fault: str
    cost_ratio: float
    is_found: bool
    ticks: int | None
    others: int


def play(scene: Scene, settings: DetectionSettings) -> Iterator[Outcome]:
    """Learn the healthy job, then go through its faults; the last outcome comes with the last fault."""
    layout = LAYOUTS[scene.layout](scene.ranks)
    cluster = Cluster(layout, NOISES[scene.noise], scene.seed, TICK_SECONDS)
    period = FAULT_TICKS + PAUSE_TICKS
    begins = [scene.learnt_ticks + PAUSE_TICKS + period * number for number in range(len(scene.faults))]
    for begin, fault in zip(begins, scene.faults, strict=True):
        cluster.add(_event(*fault, begin * TICK_SECONDS))
    builder = BaselineBuilder(settings.baseline)
    for snapshot in cluster.snapshots(scene.learnt_ticks):
        builder.add(snapshot)
    detector, tracker = Detector(settings, builder.build()), IncidentTracker(settings)
    opened: list[tuple[int, Incident]] = []
    told = cluster.snapshots(PAUSE_TICKS + period * len(scene.faults))
    for tick, snapshot in enumerate(told, scene.learnt_ticks + 1):
        changes = tracker.step(detector.step(snapshot))
        # One that comes back is told anew: the fault before, of the same name, had ended.
        opened += [(tick, incident) for incident in (*changes.opened, *changes.reopened)]
    # What is said before the first fault is counted with the first.
    for number, (begin, (fault, rank, cost)) in enumerate(zip(begins, scene.faults, strict=True)):
        since = begin if number else 0
        mine = [(tick, incident) for tick, incident in opened if since < tick <= begin + period]
        yield _outcome(scene, fault, rank, cost, begin, mine)


def _event(fault: str, rank: int, cost: float, begin: float) -> Event:
    kind = FAULTS[fault][0]
    times = {"begin": begin, "end": begin + FAULT_TICKS * TICK_SECONDS}
    build = partial(kind, **times)
    if kind is SlowFabric:
        return build(cost_ratio=cost)
    return build(rank=rank) if kind is Stall else build(rank=rank, cost_ratio=cost)


def _outcome(
    scene: Scene, fault: str, rank: int, cost: float, begin: int, opened: Sequence[tuple[int, Incident]]
) -> Outcome:
    verdict = FAULTS[fault][1]
    ranks = () if verdict is Verdict.SLOW_FABRIC else (rank,)
    during = [(tick, incident) for tick, incident in opened if tick > begin]
    right = [
        tick for tick, incident in during if (incident.culprit.verdict, incident.culprit.ranks) == (verdict, ranks)
    ]
    return Outcome(
        scene, fault, cost, bool(during), right[0] - begin if right else None, len(opened) - min(len(right), 1)
    )
