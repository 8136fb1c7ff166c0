"""For how long counters counted, where scrapes failed."""

from dataclasses import replace

import numpy as np
from cluster.job import Job

from sentinel.measure.lateness import measure_lateness
from sentinel.measure.spans import SpanReader
from sentinel.measure.window import Differencer


def test_from_sample_to_sample() -> None:
    first, second, third = Job(nranks=3).ticks(3)
    t = first.time
    reader = SpanReader()
    code = first.communicators.comm
    assert reader.step(first).of(code, np.arange(3, dtype=np.int32), 2.0).tolist() == [2.0] * 3
    late = replace(second, sampled_at=np.array([t + 2.0, t, t + 1.5]))
    assert reader.step(late).of(code, np.arange(3, dtype=np.int32), 9.0).tolist() == [2.0, 9.0, 1.5]
    spans = reader.step(replace(third, sampled_at=np.array([t + 4.0, t + 4.0, np.nan])))
    assert spans.of(code, np.arange(3, dtype=np.int32), 9.0).tolist() == [2.0, 4.0, 9.0]


def test_a_failed_scrape_makes_no_rate_higher() -> None:
    """Half of the ranks are a scrape behind; at the next one their counters have counted for twice as long."""
    job = Job(nranks=8)
    snapshots = list(job.ticks(4))
    before, now = snapshots[1], snapshots[2]
    behind = np.arange(8) < 5
    counters = ("operations", "seconds", "log_microseconds")
    stale = replace(
        now,
        cells=replace(
            now.cells,
            **{
                name: np.where(behind[now.cells.rank], getattr(before.cells, name), getattr(now.cells, name))
                for name in counters
            },
        ),
        started=replace(
            now.started, started=np.where(behind[now.started.rank], before.started.started, now.started.started)
        ),
        sampled_at=np.where(behind, before.time, now.time),
    )
    differencer = Differencer()
    rates = []
    for snapshot in (snapshots[0], before, stale, snapshots[3]):
        window = differencer.step(snapshot)
        if window is not None:
            rates.append(measure_lateness(window, snapshot.vocabulary, 5).rate.max())
    assert max(rates) < 1.2 * min(rates)
