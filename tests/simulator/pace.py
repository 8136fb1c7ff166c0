"""How fast a job goes under its faults: conditions by fault, and the step that follows from them."""

from functools import cached_property

from simulator.conditions import Conditions
from simulator.faults import Slowdown
from simulator.layout import Layout
from simulator.noise import NoiseState
from simulator.placement import Placement
from simulator.reference import mean_step_seconds, size_for

Active = tuple[tuple[Slowdown, float], ...]
"""Faults, and how much there is of each (0 to 1)."""


class Pace:
    """Of one job on its machines; `first` is where it was at the start. Everything is computed once."""

    def __init__(self, layout: Layout, placement: Placement, first: Placement, noise: NoiseState) -> None:
        self._layout = layout
        self._placement = placement
        self._first = first
        self._noise = noise
        self._sizes: dict[Slowdown, float] = {}
        self._known: dict[tuple[int, Active], tuple[Layout, Conditions, float]] = {}

    @cached_property
    def healthy_seconds(self) -> float:
        """Of the job's usual step."""
        return self._mean(Conditions.healthy(self._layout))

    def under(self, layout: Layout, active: Active) -> tuple[Conditions, float]:
        """Conditions, and seconds of a step; `layout` is the job with the step that it does now."""
        key = (id(layout), active)
        if key not in self._known:
            conditions = Conditions.healthy(layout)
            for fault, strength in active:
                fault.act(conditions, self.size(fault) * strength, fault.ranks(self._placement, self._first))
            self._known[key] = (layout, conditions, self._mean(conditions))  # the layout, so that its id stays its own
        return self._known[key][1:]

    def size(self, fault: Slowdown) -> float:
        """The size at which a fault costs what it is said to cost in the usual step; 0 where it meets nobody."""
        ranks = fault.ranks(self._placement, self._first)
        if fault not in self._sizes:
            meets_nobody = not ranks and (getattr(fault, "rank", None), getattr(fault, "node", None)) != (None, None)
            self._sizes[fault] = (
                0.0
                if meets_nobody
                else size_for(
                    fault.cost_ratio,
                    lambda conditions, size: fault.act(conditions, size, ranks),
                    self.healthy_seconds,
                    self._mean,
                    lambda: Conditions.healthy(self._layout),
                )
            )
        return self._sizes[fault]

    def _mean(self, conditions: Conditions) -> float:
        return mean_step_seconds(conditions, self._placement, self._noise)
