"""The source against a real Prometheus."""

import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from cluster.job import Job
from servers.exporter import exporter
from servers.metrics_text import exposition, openmetrics
from servers.process import wait_until
from servers.prometheus import fill, prometheus

from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.snapshot import Snapshot
from sentinel.source import prometheus_chunks as module
from sentinel.source.prometheus import PrometheusSource
from sentinel.source.prometheus_grid import Axis
from sentinel.source.prometheus_session import AnswerTooLargeError

START = 1_700_000_000.0
SCRAPE_SECONDS = 15.0


@pytest.fixture(scope="module")
def history() -> list[Snapshot]:
    """Twenty minutes: a rank goes silent for good at tick 40, a restart gives a new communicator at tick 60."""
    job = Job(tick_seconds=SCRAPE_SECONDS, start=START, nranks=4, comm_name="dp")
    snapshots = list(job.ticks(40))
    job.silent = {2}
    snapshots += job.ticks(20)
    job.silent = set()
    job.restart("00000000000000bb")
    return [*snapshots, *job.ticks(20)]


@pytest.fixture(scope="module")
def url(history: list[Snapshot], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("prometheus")
    fill(directory, openmetrics(history))
    with prometheus(directory, flags=["--query.max-samples=5000"]) as address:
        yield address


def source(url: str, **more: object) -> PrometheusSource:
    return PrometheusSource(PrometheusSettings.model_validate({"url": url, **more}))


def rows(table: object, vocabulary: object) -> list[tuple[object, ...]]:
    """A table's rows, sorted, with text for codes: what two snapshots have in common whatever the order."""
    numbers = {"rank", "global_rank", "nranks", "nnodes"}
    columns = []
    for field in fields(table):
        values = getattr(table, field.name)
        as_text = values.dtype == np.int32 and field.name not in numbers
        columns.append(vocabulary.texts(values) if as_text else np.round(values, 9).tolist())
    return sorted(zip(*columns, strict=True), key=repr)


def contents(snapshot: Snapshot) -> dict[str, object]:
    tables = ("communicators", "cells", "started", "in_flight")
    # As text: a counter that is missing is NaN, which equals nothing.
    found: dict[str, object] = {name: repr(rows(getattr(snapshot, name), snapshot.vocabulary)) for name in tables}
    return {**found, "time": snapshot.time, "quality": snapshot.quality}


def test_a_snapshot_holds_what_was_exported(url: str, history: list[Snapshot]) -> None:
    found = source(url).snapshot(history[10].time)
    assert contents(found) == contents(history[10])
    assert len(found.cells.rank) == 8


def test_a_snapshot_tells_when_its_samples_were_taken(url: str, history: list[Snapshot]) -> None:
    between = source(url).snapshot(history[10].time + 7.0)
    assert between.sampled_at.tolist() == [history[10].time] * 4


def test_a_range_gives_what_single_instants_give(url: str) -> None:
    """Across the silent rank, the restart, both ends and instants between scrapes."""
    one = source(url)
    start, end, step = START - 60, START + 1400, 17.0
    found = list(one.snapshots(start, end, step))
    assert [snapshot.time for snapshot in found] == [start + step * index for index in range(86)]
    for snapshot in found:
        assert contents(snapshot) == contents(one.snapshot(snapshot.time))
        assert snapshot.vocabulary is found[0].vocabulary


def test_memory_and_the_server_s_limits_split_a_range(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that the server finds too large is halved: with 5000 samples at most, it does."""
    refused: list[int] = []
    grids = PrometheusSource._grids

    def watched(self: PrometheusSource, axis: Axis) -> object:
        try:
            return grids(self, axis)
        except AnswerTooLargeError:
            refused.append(axis.count)
            raise

    monkeypatch.setattr(PrometheusSource, "_grids", watched)
    whole = [contents(snapshot) for snapshot in source(url).snapshots(START, START + 400, 1.0)]
    assert refused
    monkeypatch.setattr(module, "_SAMPLES_PER_QUERY", 1)
    assert [contents(snapshot) for snapshot in source(url).snapshots(START, START + 400, 1.0)] == whole
    assert len(whole) == 401


def test_a_rank_whose_samples_stopped_is_gone_without_staleness_markers(url: str, history: list[Snapshot]) -> None:
    last = history[39].time
    one = source(url)
    assert len(one.snapshot(last + 30).communicators.rank) == 4
    for age in (60, 120, 200, 299, 310):
        snapshot = one.snapshot(last + age) if last + age < history[59].time else None
        if snapshot is not None:
            assert sorted(snapshot.communicators.rank) == [0, 1, 3]
            assert sorted(set(snapshot.cells.rank)) == [0, 1, 3]
            assert sorted(set(snapshot.started.rank)) == [0, 1, 3]
            assert sorted(snapshot.in_flight.rank) == [0, 1, 3]


def test_a_configured_scrape_interval_is_taken_instead_of_measured(url: str, history: list[Snapshot]) -> None:
    last = history[39].time
    assert sorted(source(url, scrape_interval="15s").snapshot(last + 38).communicators.rank) == [0, 1, 3]
    assert sorted(source(url, scrape_interval="30s").snapshot(last + 38).communicators.rank) == [0, 1, 2, 3]


def test_the_selector_goes_into_every_query(url: str, history: list[Snapshot]) -> None:
    found = source(url, selector='rank=~"1|3"').snapshot(history[10].time)
    assert sorted(found.communicators.rank) == [1, 3]
    assert set(found.cells.rank) == set(found.started.rank) == set(found.in_flight.rank) == {1, 3}


def test_where_nothing_was_recorded_snapshots_are_empty(url: str) -> None:
    one = source(url)
    for snapshot in (one.snapshot(START - 86400), *one.snapshots(START - 86400, START - 86370, 30.0)):
        assert len(snapshot.cells.rank) == len(snapshot.communicators.rank) == 0
        assert snapshot.quality.malformed_series == 0


def test_scraping_marks_vanished_series_at_once(tmp_path: Path) -> None:
    job = Job(nranks=2)
    (snapshot,) = job.ticks(1)
    lacking = replace(snapshot.cells, seconds=np.where(snapshot.cells.rank == 1, np.nan, snapshot.cells.seconds))
    with exporter() as served:
        served.text = exposition(replace(snapshot, cells=lacking)) + (
            'nccl_collective_operations_total{comm="short",rank="0",op="AllReduce",size="1"} 1\n'
            'nccl_collective_operations_total{comm="00000000000000aa",rank="01",op="AllReduce",size="1"} 1\n'
            'nccl_collective_started_total{comm="00000000000000aa",rank="0",op="Odd"} NaN\n'
        )
        with prometheus(tmp_path, targets=[served.target]) as url:
            one = source(url, scrape_interval="1m")  # so that only Prometheus can know that a rank is gone
            now = _wait_for_ranks(one, [0, 1])
            found = one.snapshot(now)
            assert found.quality.malformed_series == 3
            assert np.isnan(found.cells.seconds[found.cells.rank == 1]).all()
            assert not np.isnan(found.cells.seconds[found.cells.rank == 0]).any()

            job.silent = {1}
            served.text = exposition(job.snapshot())
            later = _wait_for_ranks(one, [0])
            ranks = {tuple(sorted(each.communicators.rank)) for each in one.snapshots(now, later + 1.0, 1.0)}
            assert ranks == {(0, 1), (0,)}
            for each in one.snapshots(now, later - 1.0, 1.0):  # what is scraped meanwhile cannot change these
                assert contents(each) == contents(one.snapshot(each.time))


def _wait_for_ranks(one: PrometheusSource, expected: list[int]) -> float:
    """The time of a snapshot with just these ranks."""
    at = 0.0

    def there() -> bool:
        nonlocal at
        at = round(time.time(), 3)
        return sorted(one.snapshot(at).communicators.rank) == expected

    wait_until(there, f"ranks {expected}")
    return at
