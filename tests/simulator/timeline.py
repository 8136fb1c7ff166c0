"""How far a job is, in steps, and what it has done by then."""

import math

import numpy as np
import numpy.typing as npt
from simulator.program import Collective, Program
from simulator.sampling import Stream

Ints = npt.NDArray[np.int64]

_JUST_BEFORE = 1e-6  # of a layer: where the next one begins, all of this one has ended, whatever is rounded


class Timeline:
    """A program along its steps. The n-th execution of a phase is that of step n // repeats."""

    def __init__(self, program: Program) -> None:
        self._program = program
        lengths = np.array([block.nominal_seconds for block in program.blocks])
        self._ends = np.cumsum(lengths) / lengths.sum()
        self._starts = np.concatenate([[0.0], self._ends[:-1]])
        self._per_step: dict[Stream, int] = {}
        self._before: dict[tuple[int, int], tuple[int, int, int]] = {}
        # When in a layer each phase's operation begins and ends, as a share of the layer.
        self._begins: list[list[float]] = []
        self._finishes: list[list[float]] = []
        for number, block in enumerate(program.blocks):
            times = [phase.nominal_seconds for phase in block.phases]
            ends = np.minimum(np.cumsum(times) / sum(times), 1.0 - _JUST_BEFORE)
            waits = [p.transfer_seconds if isinstance(p, Collective) else 0.0 for p in block.phases]
            self._begins.append((ends - np.array(waits) / sum(times)).tolist())
            self._finishes.append(ends.tolist())
            opening = dict(self._per_step)
            streams = [(p.kind, p.op) if isinstance(p, Collective) else None for p in block.phases]
            for place, stream in enumerate(streams):
                if stream is not None:
                    before, per_repeat = opening.get(stream, 0), streams.count(stream)
                    self._before[number, place] = (before, per_repeat, streams[:place].count(stream))
                    self._per_step[stream] = self._per_step.get(stream, 0) + block.repeats

    def begun(self, block: int, place: int, progress: float) -> int:
        """How often a phase's operation was launched by then."""
        return self._executed(block, self._begins[block][place], progress)

    def ended(self, block: int, place: int, progress: float) -> int:
        """How often it has finished."""
        return self._executed(block, self._finishes[block][place], progress)

    def age_steps(self, block: int, place: int, progress: float) -> float:
        """For how long the last launched one has been under way, in steps."""
        repeats = self._program.blocks[block].repeats
        layers = self._layers(block, progress - math.floor(progress)) - self._begins[block][place]
        return (layers - math.floor(layers)) * float(self._ends[block] - self._starts[block]) / repeats

    def next_layer(self, progress: float) -> tuple[float, int, int]:
        """Where the next repeat of a block begins: progress, block, and which execution it is."""
        steps = math.floor(progress)
        rest = progress - steps
        for block, end in enumerate(self._ends.tolist()):
            repeats = self._program.blocks[block].repeats
            if rest < end:
                layer = math.ceil(self._layers(block, rest) - 1e-9)
                if layer < repeats:
                    begin = self._starts[block] + layer / repeats * (end - self._starts[block])
                    return steps + float(begin), block, steps * repeats + layer
                if block + 1 < len(self._ends):
                    return steps + end, block + 1, steps * self._program.blocks[block + 1].repeats
        return steps + 1.0, 0, (steps + 1) * self._program.blocks[0].repeats

    def per_step(self, stream: Stream) -> int:
        """Operations of a stream in each step."""
        return self._per_step[stream]

    def numbers(self, block: int, place: int, executions: Ints) -> Ints:
        """Numbers in its stream of a collective's executions."""
        repeats = self._program.blocks[block].repeats
        phase = self._program.blocks[block].phases[place]
        assert isinstance(phase, Collective)
        before, per_repeat, own = self._before[block, place]
        steps, layers = np.divmod(executions, repeats)
        numbers: Ints = steps * self._per_step[phase.kind, phase.op] + before + layers * per_repeat + own
        return numbers

    def _executed(self, block: int, within: float, progress: float) -> int:
        steps = math.floor(progress)
        repeats = self._program.blocks[block].repeats
        done = math.floor(self._layers(block, progress - steps) - within) + 1
        return steps * repeats + min(max(done, 0), repeats)

    def _layers(self, block: int, rest: float) -> float:
        start, end = float(self._starts[block]), float(self._ends[block])
        return (rest - start) / (end - start) * self._program.blocks[block].repeats
