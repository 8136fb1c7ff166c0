"""Runs whose answer is known."""

import numpy as np
from gpu.overhead.ratios import NONE, Run

ROUNDS = 12
COSTS = {"off": 1.0, "default": 1.02, "all": 1.4}


def runs(noise: float = 0.0, drift: float = 0.0) -> list[Run]:
    """Rounds of 10 us operations; every run is slower than the one before by `drift`."""
    random = np.random.default_rng(7)
    found = []
    for number in range(ROUNDS):
        order = [NONE, *random.permutation(list(COSTS)).tolist(), NONE]
        for place, variant in enumerate(order):
            slower = (1 + drift) ** (number * len(order) + place)
            time_us = 10 * COSTS.get(variant, 1.0) * slower * (1 + noise * random.standard_normal())
            found.append(Run(number, place, variant, time_us))
    return found
