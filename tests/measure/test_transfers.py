"""What durations tell about transfers."""

import numpy as np
import pytest
from cluster.fabric import Ring, iid

from sentinel.measure.transfers import Transfers, measure_transfers


def transfers(arrival_seconds: float) -> Transfers:
    cells = (("AllReduce", "1024", 0.01, 2000), ("AllGather", "8", 0.002, 1000))
    job = Ring(nranks=16, noise=iid(0.0), cells=cells, arrival_seconds=arrival_seconds)
    return measure_transfers(next(job.ticks(1)).lateness)


def test_without_scatter_the_shortest_duration_is_the_transfer() -> None:
    found = transfers(1e-9)
    assert sorted(found.shortest_seconds.tolist()) == pytest.approx([0.002, 0.01], rel=1e-3)
    assert found.ranks.tolist() == [16.0, 16.0]
    assert sorted(found.rate.tolist()) == [500.0, 1000.0]


def test_scatter_is_that_of_one_ranks_durations() -> None:
    found = transfers(0.0005)
    large = int(np.argmax(found.shortest_seconds))
    # Arrivals are half-normal: sigma sqrt(1 - 2 / pi), and the last of sixteen adds about a half of that.
    assert found.scatter_seconds[large] == pytest.approx(0.0005 * np.sqrt(1 - 2 / np.pi) * 1.1, rel=0.15)
    assert 0.01 < found.shortest_seconds[large] < 0.012
