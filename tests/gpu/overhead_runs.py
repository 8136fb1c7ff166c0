"""Runs whose answer is known."""

import numpy as np
from gpu.overhead.ratios import NONE, Run

ROUNDS = 12
TURNS = 3
COSTS = {"off": 1.0, "default": 1.02, "all": 1.4}


def runs(noise: float = 0.0, drift: float = 0.0) -> list[Run]:
    """Rounds of 10 us operations; every run is slower than the one before by `drift`."""
    random = np.random.default_rng(7)
    pairs = [NONE, *COSTS, NONE]
    found = []
    for number in range(ROUNDS):
        for turn in range(TURNS):
            for place in random.permutation(len(pairs)).tolist():
                time_us = 10 * COSTS.get(pairs[place], 1.0) * (1 + drift) ** len(found)
                time_us *= 1 + noise * random.standard_normal()
                found.append(Run(number, turn, place, pairs[place], time_us))
    return found
