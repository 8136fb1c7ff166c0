"""What a job does in a step: blocks of phases, each repeated, as layers are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

SYNCHRONIZING = frozenset({"AllReduce", "AllGather", "ReduceScatter", "AllToAll"})
FROM_ROOT = frozenset({"Broadcast", "Scatter"})  # the others wait for the root; it waits for nobody
TO_ROOT = frozenset({"Reduce", "Gather"})  # the root waits for the others; they wait for nobody


@dataclass(frozen=True)
class Collective:
    """A collective in each communicator of a kind, after some compute. Times of a healthy job, in seconds."""

    kind: str
    op: str
    size: int  # bytes, a power of two
    transfer_seconds: float
    compute_seconds: float = 0.0
    algo: str = "RING"
    proto: str = "SIMPLE"

    @property
    def nominal_seconds(self) -> float:
        """Without noise."""
        return self.compute_seconds + self.transfer_seconds


@dataclass(frozen=True)
class Pass:
    """Microbatches through the pipeline: each stage receives, computes, sends. Backward goes from the last stage.

    `kind` is that of the communicators along the pipeline, one rank of each stage in order. A Send returns early when
    it is buffered, else it waits for its receiver.
    """

    kind: str
    size: int
    transfer_seconds: float
    compute_seconds: float
    microbatches: int = 4
    backward: bool = False
    buffered: bool = True

    @property
    def nominal_seconds(self) -> float:
        """Of one stage."""
        return self.microbatches * (self.compute_seconds + self.transfer_seconds)


Phase = Collective | Pass


@dataclass(frozen=True)
class Block:
    """Phases, `repeats` times in a row. The last one synchronizes the whole job."""

    phases: tuple[Phase, ...]
    repeats: int = 1

    @property
    def nominal_seconds(self) -> float:
        """All repeats."""
        return self.repeats * sum(phase.nominal_seconds for phase in self.phases)


@dataclass(frozen=True)
class Segment:
    """Phases from one synchronization of the whole job to the next.

    `first` is the place of its first phase in its block. All that it inherits from before is that not everybody leaves
    a collective with a slow link at once: it comes `after` one, or, in the first repeat of its block, after `enters`.
    """

    block: int
    first: int
    phases: tuple[Phase, ...]
    opens_step: bool
    after: Collective
    enters: Collective


@dataclass(frozen=True)
class Program:
    """A step, over and over."""

    blocks: tuple[Block, ...]

    def check(self, is_world: Mapping[str, bool]) -> None:
        """ValueError where a block does not end with everybody at one point."""
        for number, block in enumerate(self.blocks):
            if not _synchronizes(block.phases[-1], is_world):
                raise ValueError(f"block {number} does not end with a synchronizing collective of the whole job")

    def segments(self, is_world: Mapping[str, bool]) -> tuple[Segment, ...]:
        """The segments of one repeat of each block."""
        found = []
        for number, block in enumerate(self.blocks):
            first, after, enters = 0, block.phases[-1], self.blocks[number - 1].phases[-1]
            for place, phase in enumerate(block.phases):
                if _synchronizes(phase, is_world):
                    phases = block.phases[first : place + 1]
                    assert isinstance(after, Collective)
                    assert isinstance(enters, Collective)
                    found.append(Segment(number, first, phases, number == first == 0, after, enters))
                    first, after, enters = place + 1, phase, phase
        return tuple(found)

    @cached_property
    def nominal_seconds(self) -> float:
        """Of a step, without noise."""
        return sum(block.nominal_seconds for block in self.blocks)

    def resized(self, factor: float) -> "Program":
        """With messages of other sizes, whose transfers take as much longer or shorter."""
        return Program(
            tuple(
                replace(
                    block,
                    phases=tuple(
                        replace(
                            phase,
                            size=max(1, int(phase.size * factor)),
                            transfer_seconds=phase.transfer_seconds * factor,
                        )
                        for phase in block.phases
                    ),
                )
                for block in self.blocks
            )
        )


def _synchronizes(phase: Phase, is_world: Mapping[str, bool]) -> bool:
    return isinstance(phase, Collective) and is_world[phase.kind] and phase.op in SYNCHRONIZING
