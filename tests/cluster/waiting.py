"""A job on one page: its communicators, and what each rank waits in one tick."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sentinel.detect.late_rank import LateSeries
from sentinel.measure.membership import Membership, MembershipReader
from sentinel.measure.waits import COLLECTIVES, Waits
from sentinel.model.snapshot import CellTable, CommunicatorTable, InFlightTable, Snapshot, StartedTable
from sentinel.model.vocabulary import Vocabulary


class Job:
    """`groups`: the global ranks of each communicator, by name, in the order of the rank in it."""

    def __init__(self, groups: Mapping[str, Sequence[int]], job_id: str = "job") -> None:
        self.groups = groups
        self.vocabulary = Vocabulary()
        code = self.vocabulary.code
        rows = [
            (code(name), place, rank, len(ranks), 1, 0, code("node"), 0, 0, code(job_id))
            for name, ranks in groups.items()
            for place, rank in enumerate(ranks)
        ]
        none, nothing = np.empty(0, dtype=np.int32), np.empty(0)
        self.membership: Membership = MembershipReader().read(
            Snapshot(
                time=0.0,
                vocabulary=self.vocabulary,
                communicators=CommunicatorTable(*np.array(rows, dtype=np.int32).T),
                cells=CellTable(*(none,) * 6, *(nothing,) * 3),
                started=StartedTable(*(none,) * 3, nothing),
                in_flight=InFlightTable(none, none, nothing),
                sampled_at=np.zeros(len(rows)),
            )
        )

    def code(self, name: str) -> int:
        return self.vocabulary.code(name)

    def leave(self, rank: int) -> None:
        """Nobody knows of that global rank any more."""
        self.membership = Membership(
            {
                comm: replace(
                    known, members={place: one for place, one in known.members.items() if one.global_rank != rank}
                )
                for comm, known in self.membership.communicators.items()
            }
        )

    def waits(
        self,
        received: Mapping[tuple[str, int, int], float] = {},
        inside: Mapping[tuple[str, int], float] = {},
        late: Mapping[tuple[str, int], float] = {},
    ) -> Waits:
        """By communicator and global ranks. Where nothing is said a rank is inside for 0.1, and not late."""
        rows = [
            (self.code(name), ranks.index(to), ranks.index(source), ratio, 0.0)
            for (name, to, source), ratio in received.items()
            for ranks in [list(self.groups[name])]
        ]
        rows += [
            (self.code(name), place, COLLECTIVES, inside.get((name, rank), 0.1), late.get((name, rank), 0.0))
            for name, ranks in self.groups.items()
            for place, rank in enumerate(ranks)
        ]
        comm, rank, peer, *ratios = np.array(rows).T
        return Waits(*(column.astype(np.int32) for column in (comm, rank, peer)), *ratios)

    def late(self, name: str, rank: int, cost_ratio: float = 0.2) -> LateSeries:
        place = list(self.groups[name]).index(rank)
        return LateSeries(self.code(name), place, 0, None, True, cost_ratio, 0.0, {})
