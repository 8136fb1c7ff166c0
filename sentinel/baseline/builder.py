"""Learning a baseline, window by window."""

from collections.abc import Callable, Sequence

import numpy as np

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.baseline.history import ThinnedHistory
from sentinel.config.detection import BaselineSettings
from sentinel.measure.index import Rows, grown
from sentinel.measure.lateness import Lateness, measure_lateness
from sentinel.measure.membership import MembershipReader
from sentinel.measure.role_index import RoleIndex
from sentinel.measure.warm_up import WarmUp
from sentinel.measure.window import Differencer
from sentinel.model.snapshot import Snapshot

__all__ = ["BaselineBuilder", "BaselineLearner"]


class BaselineLearner:
    """Learns from lateness that is already measured. `roles` numbers its series."""

    def __init__(self, settings: BaselineSettings, capacity: int = 512) -> None:
        self._settings = settings
        self.roles = RoleIndex()
        self._lateness = ThinnedHistory(capacity)
        self._wait = ThinnedHistory(capacity)
        self._duration = ThinnedHistory(capacity)
        self._operations = np.empty(0)

    def add(self, lateness: Lateness, rows: Rows, fit: Callable[[int], bool]) -> None:
        """Learn from one window.

        `rows`, shape (n,), are the numbers that `roles` gave, −1 for what is not to be learnt. `fit(comm)` says which
        communicators are in a state to learn from.
        """
        codes, inverse = np.unique(lateness.comm, return_inverse=True)
        keep = np.array([fit(comm) for comm in codes.tolist()], dtype=bool)[inverse] & (rows >= 0)
        rows = rows[keep]
        self._lateness.append(rows, lateness.lateness_seconds[keep])
        self._wait.append(rows, lateness.wait_seconds[keep])
        self._duration.append(rows, lateness.duration_seconds[keep])
        self._operations = grown(self._operations, len(self.roles.keys), 0.0)
        self._operations[rows] += lateness.operations[keep]

    def build(self, start: float, end: float, step_seconds: float) -> Baseline:
        """What has been learnt: series with at least `min_ticks` windows, in the order of their names."""
        rows = [self.row(row) for row in range(len(self.roles.keys)) if self.ticks(row) >= self._settings.min_ticks]
        rows.sort(key=lambda r: (r.job_id, r.comm_name, r.members, r.op, r.size, r.algo, r.proto, r.rank))
        return Baseline(start, end, step_seconds, tuple(rows))

    def ticks(self, row: int) -> int:
        """How many windows a series has been learnt from."""
        return self._lateness.count(row)

    def row(self, row: int) -> BaselineRow:
        """What has been learnt of one series."""
        role, rank, op, size, algo, proto = self.roles.keys[row]
        member = self.roles.members[row]
        return BaselineRow(
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
            ticks=self.ticks(row),
            operations=float(self._operations[row]),
            duration_seconds=self._duration.median(row),
            lateness_seconds=self._lateness.median(row),
            lateness_spread_seconds=self._lateness.spread(row),
            wait_seconds=self._wait.median(row),
            wait_spread_seconds=self._wait.spread(row),
            autocorrelation=self._lateness.autocorrelation(row),
            wait_autocorrelation=self._wait.autocorrelation(row),
        )


class BaselineBuilder:
    """Feed it snapshots in the order of time, then ask for the baseline.

    Windows that touch an interval of `excluded` (Unix seconds; known incidents) are not learnt from.
    """

    def __init__(self, settings: BaselineSettings, excluded: Sequence[tuple[float, float]] = ()) -> None:
        self._settings = settings
        self._excluded = tuple(excluded)
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
        self._learner.add(lateness, rows, lambda comm: warm.get(comm, False))

    def build(self) -> Baseline:
        """What has been learnt so far; no rows when there was nothing to learn from."""
        step = float(np.median(self._steps)) if self._steps else 0.0
        return self._learner.build(self._start, self._end, step)
