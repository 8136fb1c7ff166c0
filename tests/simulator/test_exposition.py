"""A real Prometheus that is filled with what the exporters would have written gives the simulator's own snapshots."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from servers.prometheus import fill, prometheus
from simulator.cluster import Cluster
from simulator.exposition import History
from simulator.faults import LateRank, SlowLink, Stall
from simulator.noise import Hiccups, Normal
from simulator.presets import pipeline
from simulator.regimes import Restart, ScrapesLost

from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.snapshot import Snapshot
from sentinel.source.prometheus import PrometheusSource

TABLES = ("communicators", "cells", "started", "in_flight", "peers", "network", "exporters")
NUMBERS = {"rank", "global_rank", "nranks", "nnodes", "peer"}


def rows(snapshot: Snapshot, table: str) -> tuple[list[tuple[object, ...]], np.ndarray]:
    """Labels as text, sorted, and the values in the same order."""
    whole = getattr(snapshot, table)
    labels: list[Sequence[object]] = []
    values = []
    for field in fields(whole):
        column = getattr(whole, field.name)
        if column.dtype != np.int32:
            values.append(column)
        else:
            labels.append(column.tolist() if field.name in NUMBERS else snapshot.vocabulary.texts(column))
    if table == "communicators":
        labels.append(snapshot.vocabulary.texts(snapshot.instance))
        values.append(snapshot.sampled_at)
    keys = list(zip(*labels, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [keys[place] for place in order], np.array(values)[:, order]


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    events = (
        LateRank(rank=3, cost_ratio=0.2, begin=60.0, end=150.0),
        SlowLink(rank=9, cost_ratio=0.1, begin=60.0),
        ScrapesLost(ratio=0.2, begin=150.0, end=300.0),
        Stall(rank=3, begin=310.0, end=400.0),
    )
    cluster = Cluster(pipeline(stages=2, replicas=16), noise=(Normal(), Hiccups()), tick_seconds=15.0, scrape_moments=2)
    return cluster.add(*events)


def test_prometheus_gives_back_the_simulator_s_snapshots(cluster: Cluster, tmp_path: Path) -> None:
    expected = list(cluster.snapshots(40))
    history = History()
    for snapshot in expected:
        history.add(snapshot)
    fill(tmp_path, history.text)
    settings = PrometheusSettings.model_validate({"scrape_interval": "15s"})
    with prometheus(tmp_path) as url, PrometheusSource(settings.model_copy(update={"url": url})) as source:
        found = list(source.snapshots(expected[0].time, expected[-1].time, cluster.tick_seconds))
    assert [snapshot.time for snapshot in found] == [snapshot.time for snapshot in expected]
    for ours, theirs in zip(expected, found, strict=True):
        assert theirs.quality == ours.quality
        for table in TABLES:
            labels, values = rows(ours, table)
            assert rows(theirs, table)[0] == labels
            np.testing.assert_allclose(rows(theirs, table)[1], values, rtol=1e-12)
    assert {len(rows(expected[-1], table)[0]) > 0 for table in TABLES} == {True}
    assert any(snapshot.in_flight.oldest_seconds.max() > 60.0 for snapshot in expected)


def test_every_sample_is_written_once() -> None:
    cluster = Cluster(pipeline(stages=2, replicas=8)).add(ScrapesLost(ratio=0.5), Restart(begin=200.0))
    history = History()
    for snapshot in cluster.snapshots(15):
        history.add(snapshot)
        history.add(snapshot)
    lines = [line.rsplit(" ", 2) for line in history.text.splitlines() if not line.startswith("#")]
    written = [(series, at) for series, _, at in lines]
    assert len(written) == len(set(written))
