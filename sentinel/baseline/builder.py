"""Learning a baseline, window by window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.baseline.history import ThinnedHistory
from sentinel.config.detection import BaselineSettings
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import MembershipReader
from sentinel.measure.role_index import RoleIndex
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.warm_up import WarmUp
from sentinel.measure.window import Differencer, Window
from sentinel.model.place import Freeze
from sentinel.model.snapshot import Snapshot

__all__ = ["BaselineBuilder", "BaselineLearner", "Normal"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Normal:
    """What is normal for some series, shape (n,); fields as in `BaselineRow`."""

    ticks: Rows
    operations: Floats
    lateness_seconds: Floats
    lateness_spread_seconds: Floats
    autocorrelation: Floats
    wait_seconds: Floats
    wait_spread_seconds: Floats
    wait_autocorrelation: Floats


class BaselineLearner:
    """Learns from lateness that is already measured. `roles` numbers its series."""

    def __init__(self, settings: BaselineSettings, capacity: int = 512) -> None:
        self._settings = settings
        self.roles = RoleIndex()
        self._lateness, self._wait, self._duration = (ThinnedHistory(self.roles, capacity) for _ in range(3))
        self._operations = Column(self.roles, 0.0)

    def add(self, lateness: Lateness, rows: Rows, fit: Callable[[int], bool]) -> None:
        """Learn from one window.

        `rows`, shape (n,), are the numbers that `roles` gave, −1 for what is not to be learnt. `fit(comm)` says which
        communicators are in a state to learn from.
        """
        keep = rows >= 0
        codes, inverse = np.unique(lateness.comm[keep], return_inverse=True)
        keep[keep] = np.array([fit(comm) for comm in codes.tolist()], dtype=bool)[inverse]
        rows = rows[keep]
        self._lateness.append(rows, lateness.lateness_seconds[keep])
        self._wait.append(rows, lateness.wait_seconds[keep])
        self._duration.append(rows, lateness.duration_seconds[keep])
        self._operations.values[rows] += lateness.operations[keep]

    def build(self, start: float, end: float, step_seconds: float) -> Baseline:
        """What has been learnt: series with at least `min_ticks` windows, in the order of their names."""
        known = self.roles.live
        rows = self.rows(known[self.ticks(known) >= self._settings.min_ticks])
        rows.sort(key=lambda r: (r.job_id, r.comm_name, r.members, r.op, r.size, r.algo, r.proto, r.rank))
        return Baseline(start, end, step_seconds, tuple(rows))

    def ticks(self, rows: Rows) -> Rows:
        """How many windows each series has been learnt from."""
        return self._lateness.counts(rows)

    def normal(self, rows: Rows) -> Normal:
        """What has been learnt of some series, each with a window at least."""
        lateness, wait = self._lateness.statistics(rows), self._wait.statistics(rows)
        return Normal(
            ticks=self.ticks(rows),
            operations=self._operations[rows],
            lateness_seconds=lateness.median,
            lateness_spread_seconds=lateness.spread,
            autocorrelation=lateness.autocorrelation,
            wait_seconds=wait.median,
            wait_spread_seconds=wait.spread,
            wait_autocorrelation=wait.autocorrelation,
        )

    def rows(self, rows: Rows) -> list[BaselineRow]:
        """The same with names, as a baseline keeps it."""
        if not len(rows):
            return []
        normal, duration = self.normal(rows), self._duration.medians(rows)
        values = [getattr(normal, field.name).tolist() for field in fields(Normal)]
        names = [field.name for field in fields(Normal)]
        found = []
        for row, seconds, *one in zip(rows.tolist(), duration.tolist(), *values, strict=True):
            role, rank, op, size, algo, proto = self.roles.keys[row]
            member = self.roles.members[row]
            found.append(
                BaselineRow(
                    job_id=role.job_id,
                    comm_name=role.comm_name,
                    nranks=role.nranks,
                    nnodes=role.nnodes,
                    members=role.members,
                    rank=rank,
                    global_rank=member.global_rank,
                    node=member.node,
                    gpu=member.gpu,
                    op=op,
                    size=size,
                    algo=algo,
                    proto=proto,
                    duration_seconds=seconds,
                    **dict(zip(names, one, strict=True)),
                )
            )
        return found


class BaselineBuilder:
    """Feed it snapshots in the order of time, then ask for the baseline.

    Windows that touch an interval of `excluded` (Unix seconds; known incidents) are not learnt from, nor are
    communicators with a member where one of `frozen` was going on.
    """

    def __init__(
        self,
        settings: BaselineSettings,
        excluded: Sequence[tuple[float, float]] = (),
        frozen: Sequence[Freeze] = (),
    ) -> None:
        self._settings = settings
        self._excluded = tuple(excluded)
        self._frozen = tuple(frozen)
        self._differencer = Differencer()
        self._membership = MembershipReader()
        self._warm_up = WarmUp(settings)
        self._learner = BaselineLearner(settings)
        self._start = self._end = 0.0
        self._steps: list[float] = []

    def add(self, snapshot: Snapshot) -> None:
        """Learn from one snapshot."""
        warm = self._warm_up.step(snapshot)
        window = self._differencer.step(snapshot)
        self._start = self._start or snapshot.time
        self._end = snapshot.time
        if window is None or snapshot.quality.partial:
            return
        if any(window.start < end and start < window.end for start, end in self._excluded):
            return
        self._steps = [*self._steps[-99:], window.length_seconds]
        membership = self._membership.read(snapshot)
        lateness = measure_lateness(window, snapshot.vocabulary, self._settings.min_operations)
        rows = self._learner.roles.rows(lateness, membership, snapshot.vocabulary)
        frozen = self._frozen_communicators(window, snapshot)
        self._learner.add(lateness, rows, lambda comm: warm.get(comm, False) and comm not in frozen)

    def _frozen_communicators(self, window: Window, snapshot: Snapshot) -> frozenset[int]:
        table, codes = snapshot.communicators, set[int]()
        for freeze in self._frozen:
            if window.start < freeze.ended_at and freeze.started_at < window.end:
                codes.update(table.comm[freeze.place.rows(table, snapshot.vocabulary)].tolist())
        return frozenset(codes)

    def build(self) -> Baseline:
        """What has been learnt so far; no rows when there was nothing to learn from."""
        step = float(np.median(self._steps)) if self._steps else 0.0
        return self._learner.build(self._start, self._end, step)
