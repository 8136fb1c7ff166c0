"""What Sends, Recvs and network steps gained between two snapshots."""

from dataclasses import replace

import numpy as np
from cluster.job import Job

from sentinel.measure.traffic import TrafficReader
from sentinel.model.snapshot import NetworkTable, PeerTable, Snapshot


def at(snapshot: Snapshot, rows: list[tuple[int, float, float]]) -> Snapshot:
    """Rows: rank, count, seconds; of a Recv and of a network step alike."""
    rank, count, seconds = map(np.array, zip(*rows, strict=True))
    ones = np.ones(len(rows), dtype=np.int32)
    rank = rank.astype(np.int32)
    return replace(
        snapshot,
        peers=PeerTable(ones, rank, ones, ones, count, seconds),
        network=NetworkTable(ones, rank, ones, ones, ones, count, seconds),
    )


def test_gains_of_series_that_were_there_before() -> None:
    first, second, third = Job().ticks(3)
    reader = TrafficReader()
    assert len(reader.step(at(first, [(0, 10.0, 1.0), (1, 5.0, 1.0), (2, 7.0, 1.0), (3, 9.0, 1.0)])).peers.rank) == 0
    # Rank 1 did nothing, 2 was reset, 3 is missing, 4 is new.
    traffic = reader.step(at(second, [(0, 14.0, 1.5), (1, 5.0, 1.0), (2, 3.0, 0.5), (4, 1.0, 1.0)]))
    for table, count in ((traffic.peers, traffic.peers.operations), (traffic.network, traffic.network.steps)):
        assert (table.rank.tolist(), count.tolist(), table.seconds.tolist()) == ([0], [4.0], [0.5])
    traffic = reader.step(at(third, [(0, 15.0, np.nan), (2, 5.0, 1.0), (3, 12.0, 3.0), (4, 3.0, 2.0)]))
    assert (traffic.peers.rank.tolist(), traffic.peers.operations.tolist()) == ([2, 4], [2.0, 2.0])
