"""What two snapshots of a simulated job say about the time between them, by global rank."""

import numpy as np
import numpy.typing as npt

from sentinel.model.snapshot import CellTable, NetworkTable, PeerTable, Snapshot, StartedTable

Floats = npt.NDArray[np.float64]
Table = CellTable | StartedTable | PeerTable | NetworkTable


def operations(a: Snapshot, b: Snapshot, op: str, nranks: int) -> Floats:
    """Measured operations of all communicators with that many ranks. Shape (ranks,)."""
    return _total(b, b.cells, b.cells.operations, nranks, op=op) - _total(a, a.cells, a.cells.operations, nranks, op=op)


def mean_seconds(a: Snapshot, b: Snapshot, op: str, nranks: int) -> Floats:
    """Mean duration of the same."""
    spent = _total(b, b.cells, b.cells.seconds, nranks, op=op) - _total(a, a.cells, a.cells.seconds, nranks, op=op)
    return spent / operations(a, b, op, nranks)


def geometric_mean_seconds(a: Snapshot, b: Snapshot, op: str, nranks: int) -> Floats:
    """Geometric mean of the same."""
    logs = [_total(each, each.cells, each.cells.log_microseconds, nranks, op=op) for each in (a, b)]
    return 1e-6 * np.exp((logs[1] - logs[0]) / operations(a, b, op, nranks))


def launched(a: Snapshot, b: Snapshot, op: str, nranks: int) -> Floats:
    """Operations launched."""
    return launched_ever(b, op, nranks) - launched_ever(a, op, nranks)


def launched_ever(snapshot: Snapshot, op: str, nranks: int) -> Floats:
    """Operations launched since the job's start."""
    return _total(snapshot, snapshot.started, snapshot.started.started, nranks, op=op)


def receive_seconds(a: Snapshot, b: Snapshot, op: str = "Recv") -> Floats:
    """Mean duration of Recvs, or Sends; NaN where there were none."""
    counts, spent = (
        _total(b, b.peers, getattr(b.peers, name), None, op=op)
        - _total(a, a.peers, getattr(a.peers, name), None, op=op)
        for name in ("operations", "seconds")
    )
    with np.errstate(invalid="ignore"):
        return spent / counts


def step_seconds(a: Snapshot, b: Snapshot, direction: str, state: str, nranks: int) -> Floats:
    """Mean time of network steps in a state."""
    counts, spent = (
        _total(b, b.network, getattr(b.network, name), nranks, direction=direction, state=state)
        - _total(a, a.network, getattr(a.network, name), nranks, direction=direction, state=state)
        for name in ("steps", "seconds")
    )
    return spent / counts


def in_flight(snapshot: Snapshot, older_than: float = 0.0) -> set[int]:
    """Global ranks with something in flight in any communicator, for longer than so many seconds."""
    table = snapshot.in_flight
    rank = _global_rank(snapshot)
    pairs = zip(table.comm.tolist(), table.rank.tolist(), table.oldest_seconds.tolist(), strict=True)
    return {rank[comm, each] for comm, each, age in pairs if age > older_than}


def _total(snapshot: Snapshot, table: Table, values: Floats, nranks: int | None, **labels: str) -> Floats:
    keep = np.ones(len(values), dtype=bool)
    for name, text in labels.items():
        keep &= getattr(table, name) == snapshot.vocabulary.code(text)
    size = dict(zip(snapshot.communicators.comm.tolist(), snapshot.communicators.nranks.tolist(), strict=True))
    rank = _global_rank(snapshot)
    total = np.zeros(max(rank.values()) + 1)
    for comm, each, value in zip(
        table.comm[keep].tolist(), table.rank[keep].tolist(), values[keep].tolist(), strict=True
    ):
        if nranks in (None, size[comm]):
            total[rank[comm, each]] += value
    return total


def _global_rank(snapshot: Snapshot) -> dict[tuple[int, int], int]:
    who = snapshot.communicators
    return dict(zip(zip(who.comm.tolist(), who.rank.tolist(), strict=True), who.global_rank.tolist(), strict=True))
