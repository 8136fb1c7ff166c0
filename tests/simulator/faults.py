"""What goes wrong, for whom, when, and what it costs. Times are seconds from the start of the simulation."""

import math
from dataclasses import dataclass

from simulator.conditions import Conditions
from simulator.placement import Placement
from simulator.program import Collective


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that holds from `begin` to `end`."""

    begin: float = 0.0
    end: float = math.inf

    @property
    def edges(self) -> tuple[float, ...]:
        """When it changes anything."""
        return (self.begin, self.end)

    def is_active(self, time: float) -> bool:
        """Whether it holds from `time` on."""
        return self.begin <= time < self.end


@dataclass(frozen=True, kw_only=True)
class Slowdown(Event):
    """A fault that makes every step longer, by `cost_ratio` of a healthy step.

    It grows from nothing over `ramp_seconds`. It is of a rank, or, where it `follows_hardware`, of the GPU that the
    rank had at the start, whoever runs there later.
    """

    cost_ratio: float
    ramp_seconds: float = 0.0
    follows_hardware: bool = False

    def strength(self, time: float) -> float:
        """How much of it there is, from 0 to 1, in steps of 1/64."""
        if not self.ramp_seconds:
            return 1.0
        return math.ceil(64 * min(1.0, (time - self.begin) / self.ramp_seconds)) / 64

    def ranks(self, placement: Placement, first: Placement) -> tuple[int, ...]:
        """Whose fault it is now; `first` is where everybody was at the start."""
        rank = getattr(self, "rank", None)
        if rank is None:
            return ()
        if self.follows_hardware:
            return placement.ranks_on_gpu(int(first.gpu_of[rank]))
        return (rank,) if rank < placement.ranks else ()

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        """Put it into the conditions. A size of x is about x of a healthy step or of what is stretched."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LateRank(Slowdown):
    """A slow host or data loader: the rank comes late to each step."""

    rank: int

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        conditions.before_step[list(ranks)] += size * conditions.layout.program.nominal_seconds


@dataclass(frozen=True, kw_only=True)
class LateAtEachCollective(Slowdown):
    """The rank comes late to each collective."""

    rank: int

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        program = conditions.layout.program
        count = sum(
            block.repeats * sum(isinstance(phase, Collective) for phase in block.phases) for block in program.blocks
        )
        conditions.before_collective[list(ranks)] += size * program.nominal_seconds / count


@dataclass(frozen=True, kw_only=True)
class SlowGpu(Slowdown):
    """The rank computes more slowly."""

    rank: int

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        conditions.stretch[list(ranks)] *= 1.0 + size


@dataclass(frozen=True, kw_only=True)
class SlowLink(Slowdown):
    """The rank's network card sends slowly, or those of a whole machine do: `node` is a machine."""

    rank: int | None = None
    node: int | None = None

    def ranks(self, placement: Placement, first: Placement) -> tuple[int, ...]:
        return placement.ranks_on_node(self.node) if self.node is not None else super().ranks(placement, first)

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        for rank in ranks:
            conditions.senders[rank] = conditions.senders.get(rank, 0.0) + size


@dataclass(frozen=True, kw_only=True)
class StarvedHost(Slowdown):
    """The rank's network threads get too little of the processor, or its PCIe is slow."""

    rank: int

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        for rank in ranks:
            conditions.hosts[rank] = conditions.hosts.get(rank, 0.0) + size


@dataclass(frozen=True, kw_only=True)
class SlowFabric(Slowdown):
    """Everything between nodes is slower."""

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        conditions.fabric *= 1.0 + size


@dataclass(frozen=True, kw_only=True)
class HeavyStage(Slowdown):
    """A pipeline stage has more to compute than the others."""

    stage: int

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        conditions.stretch[conditions.layout.stage == self.stage] *= 1.0 + size


@dataclass(frozen=True, kw_only=True)
class EverybodySlow(Slowdown):
    """The whole job computes more slowly: nobody's fault."""

    def act(self, conditions: Conditions, size: float, ranks: tuple[int, ...]) -> None:
        conditions.stretch *= 1.0 + size


@dataclass(frozen=True, kw_only=True)
class Stall(Event):
    """A rank launches nothing, from the next layer on; what the others launched is in flight until it goes on."""

    rank: int


@dataclass(frozen=True, kw_only=True)
class RankGone(Stall):
    """A rank's process died: it stalls the others, and its series are gone though its exporter answers."""


@dataclass(frozen=True, kw_only=True)
class ExporterGone(Event):
    """Nothing is heard of a machine; its ranks go on. `node` is a machine."""

    node: int


@dataclass(frozen=True, kw_only=True)
class JobGone(Event):
    """No process is left; the exporters answer."""
