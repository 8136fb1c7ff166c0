"""The simulated job over HTTP is the simulated job."""

from dataclasses import fields

import numpy as np
import pytest
from simulator.api import ClusterServer
from simulator.cluster import Cluster
from simulator.faults import RankGone
from simulator.history_api import HistoryServer, RecordedHistory
from simulator.presets import pipeline

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.model.snapshot import Snapshot
from sentinel.source.prometheus import PrometheusSource


def rows(snapshot: Snapshot, table: str) -> list[tuple[object, ...]]:
    """Sorted, with texts for codes."""
    numbers = {"rank", "global_rank", "nranks", "nnodes", "peer"}
    columns = []
    for each in fields(getattr(snapshot, table)):
        values = getattr(getattr(snapshot, table), each.name)
        is_code = values.dtype == np.int32 and each.name not in numbers
        columns.append(snapshot.vocabulary.texts(values) if is_code else values.tolist())
    return sorted(zip(*columns, strict=True))


def test_the_source_reads_what_the_cluster_says() -> None:
    cluster, twin = (Cluster(pipeline(stages=4, replicas=4), seed=3) for _ in range(2))
    with ClusterServer(cluster) as server, PrometheusSource(PrometheusSettings(url=server.url)) as source:
        for expected in twin.snapshots(3):
            found = source.snapshot(expected.time)
            for table in ("communicators", "cells", "started", "in_flight", "peers", "network", "exporters"):
                assert rows(found, table) == rows(expected, table), table
            assert found.newest_sample == expected.newest_sample


def test_another_query_is_refused() -> None:
    cluster = Cluster(pipeline(stages=4, replicas=4), seed=3)
    with ClusterServer(cluster) as server:
        settings = PrometheusSettings(url=server.url, selector='cluster="a"')
        with PrometheusSource(settings) as source, pytest.raises(SourceError, match="not simulated"):
            source.snapshot(cluster.start + 30.0)


def test_a_recorded_history_is_read_back_by_instant_and_by_range() -> None:
    cluster, twin = (Cluster(pipeline(stages=4, replicas=4), seed=3).add(RankGone(rank=5, begin=90)) for _ in range(2))
    expected = list(twin.snapshots(12))
    history = RecordedHistory(cluster.snapshots(12), 12)
    with HistoryServer(history) as server, PrometheusSource(PrometheusSettings(url=server.url)) as source:
        ranged = source.snapshots(expected[0].time, expected[-1].time, cluster.tick_seconds)
        for one, snapshot in zip(expected, ranged, strict=True):
            at_once = source.snapshot(one.time)
            for table in ("communicators", "cells", "started", "in_flight", "peers", "network", "exporters"):
                assert rows(snapshot, table) == rows(at_once, table) == rows(one, table), table
