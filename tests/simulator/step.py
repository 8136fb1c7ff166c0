"""A segment of a step on all ranks, many times at once: who arrives when, and how long each is inside.

In a synchronizing collective nobody leaves before the last has arrived: duration_i = (S_last − S_i) + T.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from simulator.conditions import Conditions
from simulator.noise import NoiseState
from simulator.placement import Placement
from simulator.program import FROM_ROOT, TO_ROOT, Collective, Pass, Segment

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

TRANSFER_JITTER = 0.05  # of a transfer, alike for all ranks of a communicator
MEAN_JITTER = 1.0 + TRANSFER_JITTER * np.sqrt(2.0 / np.pi)
_COPY_RATIO = 0.2  # of a transfer: what a Recv takes when its data was there before it


@dataclass(frozen=True)
class Moved:
    """Durations of one microbatch's Sends and Recvs, shape (rows, ranks); zero on ranks that have none."""

    sends: Floats
    recvs: Floats


Outcome = Floats | tuple[Moved, ...]
"""Of one phase: durations of shape (rows, ranks), or what moved in each microbatch."""


class Step:
    """Runs segments under one set of conditions. `factor` multiplies every time."""

    def __init__(
        self,
        conditions: Conditions,
        placement: Placement,
        noise: NoiseState,
        random: np.random.Generator,
        factor: float = 1.0,
    ) -> None:
        self._layout = conditions.layout
        self._conditions = conditions
        self._noise = noise
        self._random = random
        self.factor = factor
        self._mean = noise.mean(placement.gpu_of) * conditions.stretch
        self._kinds = self._layout.kinds
        self._transfer = {name: conditions.transfer(kind) for name, kind in self._kinds.items()}
        self._before_step = conditions.before_step * factor if conditions.before_step.any() else None
        before = conditions.before_collective
        self._before_collective = before * factor if before.any() else None

    def run(
        self, segment: Segment, enters: Flags, warm: dict[int, Floats], held: Floats | None = None
    ) -> tuple[list[Outcome], Floats]:
        """The outcome of each phase, and when each rank left the last one, shape (rows, ranks) or (rows, 1).

        Times count from when the first rank left what was before. enters: whether a row is the first repeat of its
        block, shape (rows,). warm: by phase, seconds that set-up adds to the transfers, shape (rows,). held: seconds
        for which ranks were held up before the first row, shape (ranks,).
        """
        clock = self._inherited(segment, enters)
        if self._before_step is not None and segment.opens_step and enters.any():
            late = enters[:, None] * self._before_step
            clock = late if clock is None else clock + late
        if held is not None:
            clock = np.zeros((len(enters), self._layout.ranks)) if clock is None else clock
            clock[0] += held
        outcomes: list[Outcome] = []
        for place, phase in enumerate(segment.phases):
            if isinstance(phase, Collective):
                durations, clock = self._collective(phase, len(enters), warm.get(place), clock)
                outcomes.append(durations)
            else:
                moved, clock = self._pass(phase, len(enters), clock)
                outcomes.append(moved)
        assert clock is not None
        return outcomes, clock

    def _inherited(self, segment: Segment, enters: Flags) -> Floats | None:
        """How much later than the first each rank left what was before, shape (rows, ranks); None: all at once."""
        skews = []
        for phase in (segment.after, segment.enters):
            excess = self._transfer[phase.kind]
            if isinstance(excess, float):
                return None
            skews.append((excess - excess.min()) * (phase.transfer_seconds * self.factor * MEAN_JITTER))
        return np.asarray(np.where(enters[:, None], skews[1], skews[0]), dtype=np.float64)

    def _collective(
        self, phase: Collective, rows: int, warm: Floats | None, clock: Floats | None
    ) -> tuple[Floats, Floats]:
        kind, factor = self._kinds[phase.kind], self.factor
        arrival = self._noise.compute(phase.compute_seconds * factor, self._mean, rows)
        if self._before_collective is not None:
            arrival += self._before_collective
        if clock is not None:
            arrival += clock
        transfer = np.abs(self._random.standard_normal((rows, len(kind.groups))))
        transfer *= TRANSFER_JITTER
        transfer += 1.0
        transfer *= phase.transfer_seconds * factor
        excess = self._transfer[phase.kind]
        wire: Floats = kind.expand(transfer) * excess
        if warm is not None:
            wire = wire + warm[:, None]
        leave: Floats
        if phase.op in FROM_ROOT:
            leave = np.maximum(arrival, kind.expand(arrival[:, kind.groups[:, 0]])) + wire
        elif phase.op in TO_ROOT:
            leave = arrival + wire
            roots = kind.groups[:, 0]
            leave[:, roots] = kind.last(arrival) + (wire if wire.shape[1] == 1 else wire[:, roots])
        else:
            leave = kind.expand(kind.last(arrival)) + wire
        return leave - arrival, leave

    def _pass(self, phase: Pass, rows: int, clock: Floats | None) -> tuple[tuple[Moved, ...], Floats]:
        kind, ranks = self._kinds[phase.kind], self._layout.ranks
        clock = np.zeros((rows, ranks)) if clock is None else np.broadcast_to(clock, (rows, ranks)).copy()
        stages = kind.groups.T[::-1] if phase.backward else kind.groups.T
        seconds = phase.transfer_seconds * self.factor
        sending = self._conditions.sending(kind) * seconds
        moved = []
        for _ in range(phase.microbatches):
            compute = self._noise.compute(phase.compute_seconds * self.factor, self._mean, rows)
            sends, recvs = np.zeros((rows, ranks)), np.zeros((rows, ranks))
            there: Floats | None = None  # when the data of the stage before arrives
            for number, stage in enumerate(stages):
                now = clock[:, stage]
                if there is not None:
                    after = np.maximum(there, now + _COPY_RATIO * seconds)
                    recvs[:, stage] = after - now
                    now = after
                now = now + compute[:, stage]
                if number + 1 < len(stages):
                    # A buffered Send is over once it is on the wire; else it needs a receiver that has come.
                    begin = now if phase.buffered else np.maximum(now, clock[:, stages[number + 1]])
                    there = begin + sending[stage]
                    sends[:, stage] = there - now
                    now = there
                clock[:, stage] = now
            moved.append(Moved(sends, recvs))
        return tuple(moved), clock
