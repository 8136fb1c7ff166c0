"""Folds snapshots and volumes into measurements."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sentinel.advise.batch_means import batch_means
from sentinel.advise.bus_bandwidth import bus_bytes
from sentinel.advise.byte_ledger import ByteLedger
from sentinel.advise.cell_windows import CellGains, PooledWindow, pool_by_role
from sentinel.advise.gains import Gains
from sentinel.advise.measurement import Measurement
from sentinel.advise.message_bytes import class_bounds, mean_message_bytes
from sentinel.advise.role_table import RoleTable
from sentinel.measure.labels import Labels
from sentinel.measure.lateness import SYNCHRONIZING
from sentinel.measure.membership import MembershipReader
from sentinel.measure.rank_table import RankTable
from sentinel.measure.sampling import sampling_scale
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes, Vocabulary
from sentinel.model.volume import Volume

__all__ = ["Collector"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_Key = tuple[int, int, int, int, int]
"""Role, op, size, algo, proto."""

_EXACT = 1.001


@dataclass
class _Windows:
    times: list[float] = field(default_factory=list)
    rows: list[tuple[float, ...]] = field(default_factory=list)  # as the columns of PooledWindow after its labels


class Collector:
    """Feed it snapshots in the order of time, each with the volume of the same instant; then ask for measurements.

    Instants whose answer was partial are passed over: the next window is the longer.
    """

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None
        self._members, self._roles = MembershipReader(), RoleTable()
        self._cells, self._started, self._bytes, self._p2p = Gains(3), Gains(1), Gains(1), Gains(3)
        self._there = RankTable.empty()
        self._time: float | None = None
        self._windows: dict[_Key, _Windows] = defaultdict(_Windows)
        self._ledger = ByteLedger()
        self._p2p_bytes: dict[tuple[int, int, int], tuple[float, float]] = {}  # bytes, operations
        self._seconds = 0.0
        self.partial = 0

    def add(self, snapshot: Snapshot, volume: Volume) -> None:
        """Take an instant. ValueError when time does not advance, or the two are of different instants."""
        if volume.time != snapshot.time or (self._time is not None and snapshot.time <= self._time):
            raise ValueError(f"snapshot of {snapshot.time}, volume of {volume.time}, after {self._time}")
        if snapshot.quality.partial:
            self.partial += 1
            return
        self._vocabulary = snapshot.vocabulary
        self._roles.read(self._members.read(snapshot))
        collectives, point_to_point = self._collectives(snapshot, volume), self._point_to_point(volume)
        who = snapshot.communicators
        self._there = RankTable.from_columns(who.comm, who.rank, np.ones(len(who.rank)))
        last, self._time = self._time, snapshot.time
        if last is None:
            return
        self._seconds += snapshot.time - last
        for gains in (collectives, point_to_point):
            if len(gains.comm):
                self._keep(snapshot.time, pool_by_role(gains))

    def measurements(self) -> tuple[Measurement, ...]:
        """All rows, by role, op, size, algorithm and protocol."""
        if self._vocabulary is None:
            return ()
        hardware, text = self._roles.hardware, self._vocabulary.text
        settings: dict[tuple[int, int, int], set[tuple[int, int]]] = defaultdict(set)
        for role, op, size, algo, proto in self._windows:
            settings[role, op, size].add((algo, proto))
        found = []
        for (role, op, size, algo, proto), windows in self._windows.items():
            place, name, size_bytes = hardware[role], text(op), int(text(size))
            times = np.array(windows.times)
            operations, log_shortest, log_median, scatter, spent = np.array(windows.rows).T
            median = batch_means(times, operations, log_median)
            is_transfer = name in SYNCHRONIZING
            ledger = self._ledger.of(role, op)
            low, high = self._message_bytes(role, op, size, mixed=len(settings[role, op, size]) > 1)
            bus = (bus_bytes(name, low, place.nranks), bus_bytes(name, high, place.nranks))
            total = sum(ledger.by_size.values())
            found.append(
                Measurement(
                    hardware=place,
                    op=name,
                    size_bytes=size_bytes,
                    algo=text(algo),
                    proto=text(proto),
                    operations=float(operations.sum()),
                    windows=len(np.unique(times)),
                    is_transfer=is_transfer,
                    log_latency=batch_means(times, operations, log_shortest) if is_transfer else median,
                    log_duration=median,
                    scatter_ratio=float(np.sqrt(operations @ scatter**2 / operations.sum())),
                    time_ratio=float(spent.sum()) / self._seconds,
                    message_bytes=(low, high),
                    bus_bytes=None if bus[0] is None or bus[1] is None else (bus[0], bus[1]),
                    sizes_per_operation=tuple((each, n / total) for each, n in sorted(ledger.by_size.items())),
                    op_message_bytes=ledger.size_bytes / total if total else float("nan"),
                )
            )
        return tuple(sorted(found, key=lambda row: (*_place(row), row.op, row.size_bytes, *row.setting)))

    def _keep(self, time: float, pooled: PooledWindow) -> None:
        columns = (pooled.role, pooled.op, pooled.size, pooled.algo, pooled.proto)
        values = (pooled.operations, pooled.log_shortest, pooled.log_median, pooled.scatter, pooled.spent_seconds)
        keys = zip(*(column.tolist() for column in columns), strict=True)
        for key, row in zip(keys, np.stack(values, axis=1).tolist(), strict=True):
            windows = self._windows[key]
            windows.times.append(time)
            windows.rows.append(tuple(row))

    def _collectives(self, snapshot: Snapshot, volume: Volume) -> CellGains:
        cells, started, moved = snapshot.cells, snapshot.started, volume.collectives
        gain = self._cells.step(
            (cells.comm, cells.rank, cells.op, cells.size, cells.algo, cells.proto),
            (cells.operations, cells.seconds, cells.log_microseconds),
            self._known(cells.comm, cells.rank),
        )
        (launched,) = self._started.step(
            (started.comm, started.rank, started.op), (started.started,), self._known(started.comm, started.rank)
        )
        (size_bytes,) = self._bytes.step(
            (moved.comm, moved.rank, moved.op), (moved.size_bytes,), self._known(moved.comm, moved.rank)
        )
        role, nranks = self._roles.of(cells.comm)
        self._ledger.add(
            role,
            (cells.comm, cells.rank, cells.op, cells.size),
            gain[0],
            (moved.comm, moved.rank, moved.op),
            size_bytes,
            snapshot.vocabulary,
        )
        kept = np.flatnonzero(_sound(gain) & (role >= 0) & self._sized(cells.size, snapshot.vocabulary))
        operations, seconds, log_microseconds = gain[:, kept]
        comm, op = cells.comm[kept], cells.op[kept]
        scale = sampling_scale(
            Labels(comm=comm, op=op), operations, Labels(comm=started.comm, op=started.op), launched, "comm", "op"
        )
        return CellGains(
            role=role[kept],
            comm=comm,
            op=op,
            size=cells.size[kept],
            algo=cells.algo[kept],
            proto=cells.proto[kept],
            nranks=nranks[kept],
            operations=operations,
            seconds=seconds,
            log_microseconds=log_microseconds,
            scale=scale,
        )

    def _point_to_point(self, volume: Volume) -> CellGains:
        table, vocabulary = volume.point_to_point, self._vocabulary
        assert vocabulary is not None  # noqa: S101 (the caller has set it)
        gain = self._p2p.step(
            (table.comm, table.rank, table.op, table.size),
            (table.operations, table.seconds, table.size_bytes),
            self._known(table.comm, table.rank),
        )
        role, _ = self._roles.of(table.comm)
        kept = np.flatnonzero(_sound(gain) & (role >= 0) & self._sized(table.size, vocabulary))
        operations, seconds, size_bytes = gain[:, kept]
        for key, moved, count in zip(
            zip(role[kept].tolist(), table.op[kept].tolist(), table.size[kept].tolist(), strict=True),
            size_bytes.tolist(),
            operations.tolist(),
            strict=True,
        ):
            before = self._p2p_bytes.get(key, (0.0, 0.0))
            self._p2p_bytes[key] = (before[0] + moved, before[1] + count)
        none = np.zeros(len(kept), dtype=np.int32)
        return CellGains(
            role=role[kept],
            comm=table.comm[kept],
            op=table.op[kept],
            size=table.size[kept],
            algo=none,
            proto=none,
            nranks=none,  # who sends is not everybody
            operations=operations,
            seconds=seconds,
            # No logarithms are counted of these: the mean stands for itself.
            log_microseconds=operations * np.log(np.maximum(1e6 * seconds / operations, 1.0)),
            scale=np.ones(len(kept)),
        )

    def _message_bytes(self, role: int, op: int, size: int, *, mixed: bool) -> tuple[float, float]:
        """Bounds of the mean message; `mixed`: of several settings, each of which may have sizes of its own."""
        assert self._vocabulary is not None  # noqa: S101 (there are rows)
        size_bytes = int(self._vocabulary.text(size))
        moved, count = self._p2p_bytes.get((role, op, size), (0.0, 0.0))
        if count:
            return moved / count, moved / count
        ledger = self._ledger.of(role, op)
        own = class_bounds(size_bytes)
        low, high = mean_message_bytes(ledger.by_size, ledger.size_bytes).get(size_bytes, own)
        return (low, high) if not mixed or high <= _EXACT * own[0] else own

    def _known(self, comm: Codes, rank: Codes) -> Flags:
        return self._there.of(comm, rank, 0.0) > 0

    @staticmethod
    def _sized(size: Codes, vocabulary: Vocabulary) -> Flags:
        """Which rows have a size class: the exporter folds rare ones together."""
        known, place = np.unique(size, return_inverse=True)
        flags = np.array([vocabulary.text(code).isdecimal() for code in known.tolist()], dtype=bool)
        return flags[place] if len(known) else np.zeros(0, dtype=bool)


def _sound(gain: Floats) -> Flags:
    return np.asarray(np.isfinite(gain).all(axis=0) & (gain >= 0).all(axis=0) & (gain[0] > 0) & (gain[1] > 0))


def _place(row: Measurement) -> Sequence[str | int]:
    hardware = row.hardware
    return (hardware.job_id, hardware.comm_name, hardware.nranks, hardware.nnodes)
