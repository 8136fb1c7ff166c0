"""A job that runs: it does its steps, and its processes count."""

import numpy as np
import numpy.typing as npt
from simulator.conditions import Conditions
from simulator.layout import Layout
from simulator.ledger import Cell, InFlight, Ledger, Peer, Started
from simulator.program import Collective, Pass, Segment
from simulator.ring import count_steps
from simulator.sampling import Sampling, Stream
from simulator.standstill import Standstill
from simulator.step import MEAN_JITTER, Moved, Step
from simulator.timeline import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_CHUNK = 1 << 18  # operations × ranks at a time: what stays in the processor's cache
_COLD = 12  # operations after which nothing is left of a communicator's set-up


class Training:
    """One start of a job, with counters from zero.

    Only operations that sampling chose are simulated; the others are counted as launched.
    """

    def __init__(self, layout: Layout, sampling: Sampling, warm_up_seconds: float) -> None:
        self.ledger = Ledger(layout.ranks)
        self._sampling = sampling
        self._warm_up_seconds = warm_up_seconds
        self._past: dict[Stream, int] = {}  # operations under programs before this one
        self._owed: dict[Stream, Floats] = {}  # launched ahead of the others, when some stood still
        self._flights: dict[str, Flags] = {}
        self._stuck: Flags | None = None
        self._since = 0.0
        self._progress = 0.0  # steps
        self._step_seconds = layout.program.nominal_seconds
        self._held: tuple[int, int, Floats] | None = None
        self._use(layout)

    @property
    def layout(self) -> Layout:
        """The job, with the step that it does now."""
        return self._layout

    @property
    def is_stalled(self) -> bool:
        """Whether some ranks launch nothing."""
        return self._stuck is not None

    def reprogram(self, layout: Layout) -> None:
        """Other steps from now on, maybe with more communicators, for the same ranks. The old step is not finished."""
        for number, block in enumerate(self._layout.program.blocks):
            for place, phase in enumerate(block.phases):
                done = self._timeline.begun(number, place, self._progress)
                for stream, each in _streams(phase):
                    self._past[stream] = self._past.get(stream, 0) + done * each
        self._use(layout)

    def advance(self, step: Step, conditions: Conditions, steps: float, step_seconds: float) -> None:
        """Do so many steps, each of them taking so long."""
        begin, self._progress = self._progress, self._progress + steps
        self._step_seconds = step_seconds
        for segment in self._segments:
            self._segment(segment, step, conditions, begin, self._progress, step_seconds)
        if self._held is not None and self._timeline.ended(self._held[0], 0, self._progress) > self._held[1]:
            self._held = None

    def finish_layer(self, step: Step, conditions: Conditions, step_seconds: float) -> None:
        """Go on to where the next layer begins."""
        there, _, _ = self._timeline.next_layer(self._progress)
        if there > self._progress:
            self.advance(step, conditions, there - self._progress, step_seconds)

    def stall(self, ranks: list[int], time: float) -> None:
        """These launch nothing from now on. Call it where a layer begins."""
        stuck = np.zeros(self._layout.ranks, dtype=bool)
        stuck[ranks] = True
        self._stuck, self._since = stuck, time
        _, block, execution = self._timeline.next_layer(self._progress)
        phases = self._layout.program.blocks[block].phases
        found = Standstill.of(self._layout, phases, stuck)
        for stream, launched in found.launched.items():
            self.ledger.of(Started(*stream))[0] += launched
            self._owed[stream] = self._owed.get(stream, 0.0) + launched
        for (stream, place), waiting in found.waiting.items():
            if self._is_timed(stream, block, place, execution):
                kind = stream[0]
                self._flights[kind] = self._flights.get(kind, np.zeros(len(stuck), dtype=bool)) | waiting

    def go_on(self, time: float) -> None:
        """Those that were stuck launch again, as late as they now are."""
        assert self._stuck is not None
        _, block, execution = self._timeline.next_layer(self._progress)
        self._held = (block, execution, np.where(self._stuck, time - self._since, 0.0))
        self._stuck = None
        self._flights.clear()

    def look(self, time: float) -> None:
        """Bring the ages of what is in flight up to date, as the exporter does when it is scraped."""
        ages = {name: np.zeros(self._layout.ranks) for name in self._layout.kinds}
        if self._stuck is not None:
            for name, flying in self._flights.items():
                ages[name] = np.where(flying, time - self._since, 0.0)
        else:
            self._age(ages)
        for name, age in ages.items():
            self.ledger.of(InFlight(name))[0] = age

    def _age(self, ages: dict[str, Floats]) -> None:
        """What is under way while the job runs: a collective, if sampling chose it, on all of its ranks."""
        for number, block in enumerate(self._layout.program.blocks):
            for place, phase in enumerate(block.phases):
                count = self._timeline.begun(number, place, self._progress)
                if not isinstance(phase, Collective) or count == self._timeline.ended(number, place, self._progress):
                    continue
                if self._is_timed((phase.kind, phase.op), number, place, count - 1):
                    ages[phase.kind] += self._timeline.age_steps(number, place, self._progress) * self._step_seconds

    def _use(self, layout: Layout) -> None:
        self._layout = layout
        self._timeline = Timeline(layout.program)
        self._segments = layout.program.segments({name: kind.is_world for name, kind in layout.kinds.items()})
        self._progress = 0.0

    def _is_timed(self, stream: Stream, block: int, place: int, execution: int) -> bool:
        phase = self._layout.program.blocks[block].phases[place]
        if isinstance(phase, Collective):
            number = self._timeline.numbers(block, place, np.array([execution]))
        else:
            number = np.array([execution * phase.microbatches])
        return bool(self._sampling.timed(stream, number + self._past.get(stream, 0))[0])

    def _segment(
        self, segment: Segment, step: Step, conditions: Conditions, begin: float, end: float, step_seconds: float
    ) -> None:
        timed: list[tuple[Ints, Flags]] = []
        warm: dict[int, dict[int, float]] = {}
        for place, phase in enumerate(segment.phases, start=segment.first):
            launched, finished = (
                [count(segment.block, place, progress) for progress in (begin, end)]
                for count in (self._timeline.begun, self._timeline.ended)
            )
            executions = np.arange(*finished)
            if isinstance(phase, Collective):
                stream = (phase.kind, phase.op)
                self._sampling.observe(stream, self._timeline.per_step(stream) / step_seconds)
                numbers = self._timeline.numbers(segment.block, place, executions) + self._past.get(stream, 0)
                self._launch(stream, np.full(self._layout.ranks, float(launched[1] - launched[0])))
                timed.append((executions, self._sampling.timed(stream, numbers)[:, None]))
                cold = numbers < _COLD
                warm[place - segment.first] = dict(
                    zip(executions[cold].tolist(), (self._warm_up_seconds * 0.5 ** numbers[cold]).tolist(), strict=True)
                )
            else:
                timed.append((executions, self._launch_pass(segment, phase, executions, step_seconds)))
        chosen = np.unique(np.concatenate([each[flags.any(axis=1)] for each, flags in timed]))
        rows = max(1, _CHUNK // self._layout.ranks)
        for start in range(0, len(chosen), rows):
            self._measure(segment, step, conditions, chosen[start : start + rows], timed, warm)

    def _launch(self, stream: Stream, launched: Floats) -> None:
        owed = self._owed.get(stream)
        if owed is not None:
            paid = np.minimum(owed, launched)
            launched = launched - paid
            self._owed[stream] = owed - paid
        self.ledger.of(Started(*stream))[0] += launched

    def _launch_pass(self, segment: Segment, phase: Pass, executions: Ints, step_seconds: float) -> Flags:
        """Counts Sends and Recvs; tells which microbatches are timed, shape (executions, microbatches)."""
        kind = self._layout.kinds[phase.kind]
        repeats = self._layout.program.blocks[segment.block].repeats
        count = float(len(executions) * phase.microbatches)
        numbers = executions[:, None] * phase.microbatches + np.arange(phase.microbatches)
        flags = np.zeros(numbers.shape, dtype=bool)
        for op, has in _ends(phase, kind.rank, kind.nranks):
            stream = (phase.kind, op)
            self._sampling.observe(stream, repeats * phase.microbatches / step_seconds)
            self._launch(stream, np.where(has, count, 0.0))
            flags = self._sampling.timed(stream, numbers + self._past.get(stream, 0))
        return flags

    def _measure(
        self,
        segment: Segment,
        step: Step,
        conditions: Conditions,
        chosen: Ints,
        timed: list[tuple[Ints, Flags]],
        warm: dict[int, dict[int, float]],
    ) -> None:
        repeats = self._layout.program.blocks[segment.block].repeats
        setup = {
            place: np.array([seconds.get(each, 0.0) for each in chosen.tolist()])
            for place, seconds in warm.items()
            if seconds
        }
        outcomes, _ = step.run(segment, chosen % repeats == 0, setup, self._held_before(segment, int(chosen[0])))
        for place, (phase, outcome, (executions, flags)) in enumerate(
            zip(segment.phases, outcomes, timed, strict=True)
        ):
            keep = np.zeros((len(chosen), flags.shape[1]), dtype=bool)
            if len(executions):
                at = np.minimum(np.searchsorted(executions, chosen), len(executions) - 1)
                keep = (executions[at] == chosen)[:, None] & flags[at]
            if isinstance(phase, Collective):
                assert not isinstance(outcome, tuple)
                self._count(phase, outcome, keep[:, 0], conditions, step.factor, setup.get(place))
            else:
                assert isinstance(outcome, tuple)
                self._count_pass(phase, outcome, keep)

    def _held_before(self, segment: Segment, execution: int) -> Floats | None:
        if self._held is None or segment.first:
            return None
        block, held, seconds = self._held
        return seconds if (segment.block, execution) == (block, held) else None

    def _count(
        self,
        phase: Collective,
        durations: Floats,
        keep: Flags,
        conditions: Conditions,
        factor: float,
        setup: Floats | None,
    ) -> None:
        if not keep.all():
            durations = durations[keep]
        count = len(durations)
        if not count:
            return
        counts = self.ledger.of(Cell(phase.kind, phase.op, phase.size, phase.algo, phase.proto))
        spent = durations.sum(axis=0)
        counts[0] += count
        counts[1] += spent
        microseconds = durations * 1e6
        np.maximum(microseconds, 1.0, out=microseconds)
        counts[2] += np.log(microseconds, out=microseconds).sum(axis=0)
        kind = self._layout.kinds[phase.kind]
        if kind.crosses_nodes.any():
            healthy = count * phase.transfer_seconds * factor * MEAN_JITTER
            wire = healthy * conditions.transfer(kind) + (0.0 if setup is None else setup[keep].sum())
            waited = np.maximum(spent - wire, 0.0)
            count_steps(self.ledger, kind, conditions, count, phase.size, healthy, waited)

    def _count_pass(self, phase: Pass, moved: tuple[Moved, ...], keep: Flags) -> None:
        kind = self._layout.kinds[phase.kind]
        forward = -1 if phase.backward else 1
        for number, each in enumerate(moved):
            rows = keep[:, number]
            for (op, has), durations, offset in zip(
                _ends(phase, kind.rank, kind.nranks), (each.sends, each.recvs), (forward, -forward), strict=True
            ):
                counts = self.ledger.of(Peer(phase.kind, op, offset))
                counts[0] += np.count_nonzero(rows) * has
                counts[1] += durations[rows].sum(axis=0) * has


def _ends(phase: Pass, rank: Ints, nranks: int) -> tuple[tuple[str, Flags], tuple[str, Flags]]:
    """Which ranks have a Send in the pass, and which a Recv."""
    first, last = (nranks - 1, 0) if phase.backward else (0, nranks - 1)
    return ("Send", rank != last), ("Recv", rank != first)


def _streams(phase: Collective | Pass) -> list[tuple[Stream, int]]:
    if isinstance(phase, Collective):
        return [((phase.kind, phase.op), 1)]
    return [((phase.kind, op), phase.microbatches) for op in ("Send", "Recv")]
