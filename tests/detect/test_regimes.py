"""What is no fault names nobody, and hides no fault that comes after it."""

import numpy as np
import pytest
from cluster.watched import Watched, name_of
from simulator.cluster import Cluster
from simulator.faults import Event, EverybodySlow, LateRank
from simulator.layout import Kind, Layout
from simulator.noise import Ar1, Imbalance, Normal
from simulator.presets import fsdp, pipeline, two_level
from simulator.program import Block, Collective
from simulator.regimes import Checkpoint, CounterReset, Evaluation, NewCommunicator, Restart, SizeMix

NOISE = (Normal(0.02), Ar1(0.01, 0.5), Imbalance(0.005))
LAYOUTS = {"fsdp": fsdp(32), "two-level": two_level(32), "pipeline": pipeline(4, 8)}
BEGIN = 1207.0  # 40 ticks, and not at a scrape
END = BEGIN + 600
FAULT = 1987.0
PAIRS = Kind("pairs", np.arange(32).reshape(16, 2), "extra")
PAIRED = Block(
    (
        Collective("pairs", "AllReduce", 1 << 20, 0.01, 0.01),
        Collective("world", "AllReduce", 8, 0.0005, 0.001, "TREE", "LL"),
    )
)
REGIMES: dict[str, tuple[Event, ...]] = {
    "checkpoint": (Checkpoint(begin=BEGIN, end=END),),
    "evaluation": (Evaluation(begin=BEGIN, end=END),),
    "restart": (Restart(begin=BEGIN, down_seconds=100),),
    "restart on other machines": (Restart(begin=BEGIN, down_seconds=100, machines=(1, 2, 3, 0)),),
    "fewer ranks": (Restart(begin=BEGIN, layout=fsdp(16)),),
    "more ranks": (Restart(begin=BEGIN, layout=fsdp(64)),),
    "new communicator": (NewCommunicator(kind=PAIRS, block=PAIRED, begin=BEGIN),),
    "communicator for a while": (NewCommunicator(kind=PAIRS, block=PAIRED, begin=BEGIN, end=END),),
    "other sizes": (SizeMix(begin=BEGIN),),
    "other sizes for a while": (SizeMix(begin=BEGIN, end=END),),
    "counters of one rank from zero": (CounterReset(rank=13, begin=BEGIN),),
    "everybody slow at once": (EverybodySlow(cost_ratio=0.3, begin=BEGIN),),
}


def watched(layout: Layout, *events: Event, warm_up_seconds: float = 0.07) -> Watched:
    cluster = Cluster(layout, NOISE, machines=8, scrape_moments=3, warm_up_seconds=warm_up_seconds)
    return Watched(cluster.add(*events))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("events", REGIMES.values(), ids=REGIMES)
def test_a_regime_names_nobody_and_hides_no_later_fault(layout: Layout, events: tuple[Event, ...]) -> None:
    job = watched(layout, *events, LateRank(rank=5, cost_ratio=0.1, begin=FAULT))
    job.until(FAULT - 7)
    assert job.opened == []
    job.run(9)
    (found,) = job.opened
    assert name_of(found) == ("late_rank", (5,))
    assert job.delay_ticks(found, FAULT) <= 6


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("warm_up_seconds", [0.07, 10.0])
def test_slow_first_operations_name_nobody(layout: Layout, warm_up_seconds: float) -> None:
    job = watched(layout, warm_up_seconds=warm_up_seconds)
    job.run(1)
    assert job.states == {"warming"}
    job.run(24)
    assert job.opened == []
    assert job.states == {"watching"}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_checkpoint_is_a_pause(layout: Layout) -> None:
    job = watched(layout, Checkpoint(begin=BEGIN, end=END))
    job.until(BEGIN + 173)
    assert job.states == {"paused"}
    job.until(END + 173)
    assert job.states == {"watching"}
    assert job.opened == []
