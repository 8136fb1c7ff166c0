"""Who waited for whom beyond what is normal, in one tick."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentinel.detect.wait_history import WaitLevels
from sentinel.measure.groups import group_rows
from sentinel.measure.peers import peers_median
from sentinel.measure.processes import Process, WaitLayout
from sentinel.measure.waits import COLLECTIVES, Waits

__all__ = ["Node", "WaitGraph"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

Node = Process | int
"""A process, or the code of a communicator that is slow as a whole."""

# Members at the same place of their communicators are compared with one another if there are so many, else with all
# that wait in the same direction.
_MIN_AT_PLACE = 3
# What a rank waits in a collective is for the last to come as far as that one is inside for less; with less than this
# share of the wait between them, all members wait alike: for the wire.
_LAST_SHARE = 0.5


@dataclass(frozen=True)
class _Excess:
    """Waiting beyond normal of one communicator's members: the rows of some waits, by process."""

    process: Rows
    row: Rows
    ratio: Floats


class WaitGraph:
    """The waits of one tick. What a process waits is compared with the members of a communicator that it is late in.

    Their arrivals there differ by what they waited elsewhere, so that is what a lateness can be explained with: the
    excess over the other members, each beyond its own normal where that is known of all of them.
    """

    def __init__(self, waits: Waits, levels: WaitLevels, layout: WaitLayout, slow: Collection[int] = ()) -> None:
        """slow: communicators in which everybody waits for the wire."""
        self._waits = waits
        self._slow = slow
        self._layout = layout
        self._level, self._normal = levels.level, levels.normal
        self._excess: dict[int, _Excess] = {}
        self._inside: dict[int, dict[int, float]] = {}

    # Most ticks nobody is late, and nothing is looked up.
    @cached_property
    def _number(self) -> dict[Process, int]:
        return {process: number for number, process in enumerate(self._layout.processes.keys)}

    @cached_property
    def _collective(self) -> dict[tuple[int, int], int]:
        """The row of each (comm, rank) that is about its collectives."""
        rows = np.flatnonzero(self._waits.peer == COLLECTIVES)
        keys = zip(self._waits.comm[rows].tolist(), self._waits.rank[rows].tolist(), strict=True)
        return dict(zip(keys, rows.tolist(), strict=True))

    def process(self, comm: int, rank: int) -> Process | None:
        """Who that rank is; None where nobody knows."""
        number = self._layout.processes.number.get((comm, rank))
        return None if number is None else self._layout.processes.keys[number]

    def lateness(self, comm: int, rank: int) -> float:
        """How late a rank comes to its communicator, seconds per second beyond its normal; 0 where not measured."""
        row = self._collective.get((comm, rank))
        if row is None:
            return 0.0
        normal = self._normal[row, 1]
        return float(max(0.0, self._level[row, 1] - (0.0 if np.isnan(normal) else normal)))

    def is_silent(self, process: Process) -> bool:
        """Whether it is one of the job's, and nothing was measured of it."""
        number = self._number.get(process)
        return number is not None and not len(self._layout.rows_of(np.array([number])))

    def like(self, process: Process, comm: int) -> int | None:
        """The process's communicator of the same kind as `comm`."""
        processes = self._layout.processes
        mine = processes.comms.get(self._number[process], ())
        return next((each for each in mine if processes.kind[each] == processes.kind[comm]), None)

    def waits(self, process: Process, comm: int, floor_ratio: float) -> dict[Node, float]:
        """Whom a process waits for beyond what the other members of `comm` do, in seconds per second.

        Waits below the floor are noise, and left out. In a collective it waits for the rank that is inside for least;
        if that one is inside for long as well, or the communicator is slow, for the communicator.
        """
        excess = self._excess_of(comm)
        mine = (excess.process == self._number[process]) & (excess.ratio >= floor_ratio)
        found: dict[Node, float] = {}
        for row, ratio in zip(excess.row[mine].tolist(), excess.ratio[mine].tolist(), strict=True):
            target = self._target(row, ratio)
            if target is not None and target != process:
                found[target] = found.get(target, 0.0) + ratio
        return found

    def _target(self, row: int, ratio: float) -> Node | None:
        if self._waits.peer[row] != COLLECTIVES:
            source = int(self._layout.source[row])
            return self._layout.processes.keys[source] if source >= 0 else None
        comm = int(self._waits.comm[row])
        if comm in self._slow:
            return comm
        inside = self._inside_of(comm)
        last = min(inside, key=lambda each: inside[each])
        if inside[row] - inside[last] < _LAST_SHARE * ratio:
            return comm
        number = int(self._layout.process[last])
        return self._layout.processes.keys[number] if number >= 0 else None

    def _inside_of(self, comm: int) -> dict[int, float]:
        """How long each member is inside a communicator's collectives, by row."""
        if comm not in self._inside:
            rows = np.flatnonzero((self._waits.comm == comm) & (self._waits.peer == COLLECTIVES))
            value, normal = self._level[rows, 0], self._normal[rows, 0]
            value = value if np.isnan(normal).any() else value - normal
            self._inside[comm] = dict(zip(rows.tolist(), value.tolist(), strict=True))
        return self._inside[comm]

    def _excess_of(self, comm: int) -> _Excess:
        if comm not in self._excess:
            self._excess[comm] = self._compare(comm)
        return self._excess[comm]

    def _compare(self, comm: int) -> _Excess:
        rows = self._layout.rows_of(self._layout.processes.members[comm])
        # How long it is inside the communicator itself is its lateness there, and explains nothing.
        rows = rows[(self._waits.comm[rows] != comm) | (self._waits.peer[rows] != COLLECTIVES)]
        group = _compact(self._layout.place[rows])
        few = np.bincount(group)[group] < _MIN_AT_PLACE if len(rows) else np.empty(0, dtype=bool)
        group[few] = self._layout.direction[rows[few]] + len(rows)
        group = _compact(group)
        value = self._level[rows, 0]
        normal = self._normal[rows, 0]
        unknown = np.bincount(group, weights=np.isnan(normal)) if len(rows) else np.empty(0)
        learnt = unknown[group] == 0
        value = value - np.where(learnt, normal, 0.0)
        # Nobody to compare with: what is beyond its own normal, if that is known.
        alone = np.where(learnt, value, 0.0)
        peers = peers_median(value, group)
        return _Excess(self._layout.process[rows], rows, np.where(np.isnan(peers), alone, value - peers))


def _compact(labels: Rows) -> Rows:
    """Labels as 0 … m − 1."""
    return group_rows(labels + 1)[0]  # −1 is one
