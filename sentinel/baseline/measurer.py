"""Measuring a stretch of history, snapshot by snapshot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentinel.baseline.measured import CellName, CellPart, MeasuredCell, MeasuredStretch, SeenCommunicator, StretchHead
from sentinel.config.detection import BaselineSettings
from sentinel.measure.groups import group_rows
from sentinel.measure.index import SeriesIndex
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import Communicator, Member, Membership, MembershipReader
from sentinel.measure.role_index import RoleIndex
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.warm_up import WarmUp
from sentinel.measure.window import Differencer, Window
from sentinel.model.place import Freeze
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Vocabulary

__all__ = ["JobIncident", "StretchMeasurer"]


@dataclass(frozen=True)
class JobIncident:
    """Something was wrong with a job (`Communicator.job`; empty: nobody knows which) in that time, Unix seconds."""

    job: str
    started_at: float
    ended_at: float


class StretchMeasurer:
    """Feed it snapshots in the order of time, from before `first` (Unix seconds) on; then ask what was measured.

    Nothing is learnt of a job while one of `incidents` went on in it, nor of communicators with a member where one of
    `frozen` was going on, nor from answers that were not whole.
    """

    def __init__(
        self,
        settings: BaselineSettings,
        first: float,
        incidents: Sequence[JobIncident] = (),
        frozen: Sequence[Freeze] = (),
    ) -> None:
        self._settings, self._first = settings, first
        self._incidents, self._frozen = tuple(incidents), tuple(frozen)
        self._differencer = Differencer()
        self._membership = MembershipReader()
        self._warm_up = WarmUp(settings)
        self._roles = RoleIndex()
        self._series = SeriesIndex()
        self._operations = Column(self._series, 0.0)
        self._windows: list[tuple[Rows, np.typing.NDArray[np.float32]]] = []
        self._lengths: list[float] = []
        self._has_series, self._is_counted = False, True
        self._vocabulary = Vocabulary()
        self._last: Membership | None = None
        self._seen: dict[int, tuple[Communicator, dict[int, Member]]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Measure the window that ends with it, if it is one of the stretch."""
        self._vocabulary = snapshot.vocabulary
        warm = self._warm_up.step(snapshot)
        window = self._differencer.step(snapshot)
        if snapshot.time < self._first:
            return
        self._has_series |= bool(len(snapshot.cells.rank) or len(snapshot.communicators.rank))
        self._is_counted &= snapshot.quality.counted
        self._windows.append((np.empty(0, dtype=np.int64), np.empty((3, 0), dtype=np.float32)))
        if window is None or snapshot.quality.partial:
            return
        self._lengths.append(window.length_seconds)
        membership = self._membership.read(snapshot)
        self._meet(membership)
        lateness = measure_lateness(window, snapshot.vocabulary, self._settings.min_operations)
        away = self._troubled(window, membership) | self._frozen_communicators(window, snapshot)
        # A second communicator of the same role and members tells nothing of the first.
        is_one = self._roles.rows(lateness, membership, snapshot.vocabulary) >= 0
        fit = np.array([comm for comm, is_warm in warm.items() if is_warm and comm not in away], dtype=np.int64)
        self._keep(lateness, is_one & np.isin(lateness.comm, fit))

    def _keep(self, lateness: Lateness, kept: np.typing.NDArray[np.bool_]) -> None:
        rows = self._series.rows(*lateness.labels.columns)
        values = (lateness.lateness_seconds, lateness.wait_seconds, lateness.duration_seconds)
        self._operations.values[rows[kept]] += lateness.operations[kept]
        self._windows[-1] = rows[kept], np.array([each[kept] for each in values], dtype=np.float32)

    def _meet(self, membership: Membership) -> None:
        if membership is self._last:
            return
        self._last = membership
        for code, communicator in membership.communicators.items():
            _, members = self._seen.get(code, (communicator, {}))
            self._seen[code] = communicator, {**members, **communicator.members}

    def _troubled(self, window: Window, membership: Membership) -> set[int]:
        jobs = {each.job for each in self._incidents if window.start < each.ended_at and each.started_at < window.end}
        return {code for code, each in membership.communicators.items() if jobs and ("" in jobs or each.job in jobs)}

    def _frozen_communicators(self, window: Window, snapshot: Snapshot) -> set[int]:
        table, codes = snapshot.communicators, set[int]()
        for freeze in self._frozen:
            if window.start < freeze.ended_at and freeze.started_at < window.end:
                codes.update(table.comm[freeze.place.rows(table, snapshot.vocabulary)].tolist())
        return codes

    def measured(self) -> MeasuredStretch:
        """What has been measured so far."""
        communicators = tuple(self._communicators())
        lengths = tuple(self._lengths)
        head = StretchHead(len(self._windows), self._has_series, self._is_counted, lengths, communicators)
        return MeasuredStretch(head, tuple(self._cells()))

    def _communicators(self) -> Iterator[SeenCommunicator]:
        for communicator, members in self._seen.values():
            role = communicator.role
            people = tuple(members[rank] for rank in sorted(members))
            yield SeenCommunicator(
                communicator.id, role.job_id, role.comm_name, role.nranks, role.nnodes, members=people
            )

    def _cells(self) -> Iterator[MeasuredCell]:
        # Each window's values together, as they came; turned round cell by cell.
        table = np.full((len(self._windows), 3, len(self._series)), np.nan, dtype=np.float32)
        for number, (rows, values) in enumerate(self._windows):
            table[number][:, rows] = values
        learnt = np.flatnonzero(~np.isnan(table[:, 0]).all(axis=0))
        if not len(learnt):
            return
        comm, rank, *cell = np.array(self._series.keys(learnt), dtype=np.int64).T
        group, first = group_rows(comm, *cell)
        order = np.lexsort((rank, group))
        text = self._vocabulary.text
        for places in np.split(order, np.searchsorted(group[order], np.arange(1, len(first)))):
            name = CellName(*(text(label[places[0]]) for label in (comm, *cell)))
            rows = learnt[places]
            part = CellPart(rank[places].astype(np.int32), self._operations[rows])
            yield MeasuredCell(name, part, np.ascontiguousarray(table[:, :, rows].transpose(2, 1, 0)))
