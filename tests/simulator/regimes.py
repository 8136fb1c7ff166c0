"""What happens to a job, or to what is known of it, without anything being wrong."""

from dataclasses import dataclass

from simulator.faults import Event
from simulator.layout import Kind, Layout
from simulator.program import Block, Program


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Event):
    """Everybody pauses between two layers; nothing is in flight."""


@dataclass(frozen=True, kw_only=True)
class Reprogrammed(Event):
    """Another step while it lasts."""

    def program(self, program: Program) -> Program:
        """The step that it makes of the usual one."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Evaluation(Reprogrammed):
    """Only the step's first block, with half the message sizes, and slower by `slowdown`."""

    slowdown: float = 1.5

    def program(self, program: Program) -> Program:
        return Program(program.blocks[:1]).resized(0.5)


@dataclass(frozen=True, kw_only=True)
class SizeMix(Reprogrammed):
    """All messages are `factor` times as large, and their transfers take as much longer."""

    factor: float = 4.0

    def program(self, program: Program) -> Program:
        return program.resized(self.factor)


@dataclass(frozen=True, kw_only=True)
class NewCommunicator(Event):
    """A communicator that did not exist before; its block is done in every step from then on."""

    kind: Kind
    block: Block


@dataclass(frozen=True, kw_only=True)
class Restart(Event):
    """The job ends at `begin` and starts anew after `down_seconds`: other communicator ids, counters from zero.

    `machines` says where it runs then (the machine of each of its nodes; unset: where it was), `layout` as what.
    """

    down_seconds: float = 60.0
    machines: tuple[int, ...] | None = None
    layout: Layout | None = None

    @property
    def edges(self) -> tuple[float, ...]:
        return (self.begin, self.begin + self.down_seconds)


@dataclass(frozen=True, kw_only=True)
class CounterReset(Event):
    """One rank's counters start from zero at `begin`."""

    rank: int


@dataclass(frozen=True, kw_only=True)
class ScrapesLost(Event):
    """A share of the scrapes fails: what is known of a machine is then older."""

    ratio: float


@dataclass(frozen=True, kw_only=True)
class PartialAnswer(Event):
    """The store warns that its answer is partial: a share of the machines is missing from it."""

    missing_ratio: float = 0.2
    warning: str = "PromQL: some of the stores did not answer"
