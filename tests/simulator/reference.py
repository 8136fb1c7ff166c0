"""How long a step takes on average, and how large a fault must be to cost what it is said to cost.

Both ask the physics itself, with the same random numbers every time, so that differences are exact where means are not.
"""

from collections.abc import Callable

import numpy as np
from simulator.conditions import Conditions
from simulator.noise import NoiseState
from simulator.placement import Placement
from simulator.program import Segment
from simulator.step import Step

_SAMPLES = 1 << 16  # operations × ranks of each segment, at least _ROWS operations
_ROWS = 4, 256
_MOMENTS = 4  # of noise that changes slowly
_TOLERANCE = 0.01  # of the cost


def mean_step_seconds(conditions: Conditions, placement: Placement, noise: NoiseState) -> float:
    """Of a step under these conditions, on these GPUs, at any time."""
    layout = conditions.layout
    rows = int(np.clip(_SAMPLES // layout.ranks, *_ROWS)) // _MOMENTS
    random = np.random.default_rng(0)
    total = 0.0
    for _ in range(_MOMENTS):
        step = Step(conditions, placement, noise.at_another_time(random), random)
        for segment in layout.program.segments({name: kind.is_world for name, kind in layout.kinds.items()}):
            repeats = layout.program.blocks[segment.block].repeats
            total += _mean(step, segment, rows, enters=True)
            if repeats > 1:
                total += (repeats - 1) * _mean(step, segment, rows, enters=False)
    return total / _MOMENTS


def size_for(
    cost_ratio: float,
    act: Callable[[Conditions, float], None],
    healthy: float,
    mean: Callable[..., float],
    fresh: Callable[[], Conditions],
) -> float:
    """The size at which a fault makes a step longer by `cost_ratio` of what it is without.

    act(conditions, size) puts the fault in, mean(conditions) is the step's mean, fresh() are conditions without it.
    ValueError where the fault cannot cost so much.
    """

    def cost(size: float) -> float:
        conditions = fresh()
        act(conditions, size)
        return mean(conditions) / healthy - 1.0

    low, high = 0.0, cost_ratio
    while (reached := cost(high)) < cost_ratio:
        low, high = high, 2.0 * high * max(1.0, min(4.0, cost_ratio / max(reached, 1e-9) / 2.0))
        if high > 1e6:
            raise ValueError("this fault costs nothing in this job")
    size = high
    while abs(reached - cost_ratio) > _TOLERANCE * cost_ratio and high - low > 1e-3 * high:
        size = 0.5 * (low + high)
        reached = cost(size)
        low, high = (size, high) if reached < cost_ratio else (low, size)
    return size


def _mean(step: Step, segment: Segment, rows: int, *, enters: bool) -> float:
    _, leave = step.run(segment, np.full(rows, enters), {})
    return float(leave.min(axis=1).mean())
