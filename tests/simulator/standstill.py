"""Where everybody is when some ranks launch nothing: who waits in what, and who never gets there."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from simulator.layout import Layout
from simulator.program import FROM_ROOT, TO_ROOT, Collective, Pass, Phase
from simulator.sampling import Stream

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass
class Standstill:
    """What was launched past the point at which the stuck ranks stopped, and what of it never ends.

    Arrays of shape (ranks,). `waiting` tells by stream and place of the phase who is in flight there.
    """

    blocked: Flags
    launched: dict[Stream, Floats] = field(default_factory=lambda: defaultdict(lambda: np.zeros(1)))
    waiting: dict[tuple[Stream, int], Flags] = field(default_factory=dict)

    @classmethod
    def of(cls, layout: Layout, phases: tuple[Phase, ...], stuck: Flags) -> "Standstill":
        """Follow the phases of a layer until nobody goes on. stuck: shape (ranks,)."""
        found = cls(stuck.copy())
        for place, phase in enumerate(phases):
            if isinstance(phase, Collective):
                found._collective(layout, phase, place)
            else:
                found._pass(layout, phase, place)
        return found

    def _launch(self, stream: Stream, who: Flags) -> None:
        self.launched[stream] = self.launched[stream] + who

    def _wait(self, stream: Stream, place: int, who: Flags) -> None:
        self.waiting[stream, place] = self.waiting.get((stream, place), np.zeros(len(who), dtype=bool)) | who
        self.blocked |= who

    def _collective(self, layout: Layout, phase: Collective, place: int) -> None:
        kind, here = layout.kinds[phase.kind], ~self.blocked
        is_root = kind.rank == 0
        missing = kind.groups[(~here)[kind.groups].any(axis=1)].reshape(-1)
        incomplete = np.zeros(len(here), dtype=bool)
        incomplete[missing] = True
        if phase.op in FROM_ROOT:
            incomplete = ~here[kind.groups[kind.group, 0]]
        elif phase.op in TO_ROOT:
            incomplete &= is_root
        self._launch((phase.kind, phase.op), here)
        self._wait((phase.kind, phase.op), place, here & incomplete)

    def _pass(self, layout: Layout, phase: Pass, place: int) -> None:
        kind = layout.kinds[phase.kind]
        stages = kind.groups.T[::-1] if phase.backward else kind.groups.T
        for _ in range(phase.microbatches):
            sent: Flags | None = None
            for number, stage in enumerate(stages):
                if sent is not None:
                    here = self._only(stage, ~self.blocked[stage])
                    self._launch((phase.kind, "Recv"), here)
                    self._wait((phase.kind, "Recv"), place, here & self._only(stage, ~sent))
                sent = ~self.blocked[stage]
                if number + 1 < len(stages):
                    here = self._only(stage, sent)
                    self._launch((phase.kind, "Send"), here)
                    if not phase.buffered:
                        self._wait(
                            (phase.kind, "Send"), place, here & self._only(stage, self.blocked[stages[number + 1]])
                        )

    def _only(self, stage: npt.NDArray[np.int64], flags: Flags) -> Flags:
        out = np.zeros(len(self.blocked), dtype=bool)
        out[stage] = flags
        return out
