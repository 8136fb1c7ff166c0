"""What a baseline learns, and how it is kept."""

import pytest
from cluster.job import Job

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.builder import BaselineBuilder
from sentinel.baseline.measurer import JobIncident
from sentinel.config.detection import BaselineSettings
from sentinel.model.place import Freeze, Place

SETTINGS = BaselineSettings.model_validate({"warm_up": "4s"})


def built(job: Job, ticks: int = 20) -> Baseline:
    builder = BaselineBuilder(SETTINGS)
    for snapshot in job.ticks(ticks):
        builder.add(snapshot)
    return builder.build()


def test_learns_each_ranks_lateness() -> None:
    job = Job()
    job.delay_seconds[5] = 0.001
    baseline = built(job)
    assert (baseline.start, baseline.end, baseline.step_seconds) == (job.start + 2, job.time, 2.0)
    assert len(baseline.rows) == 16
    for row in baseline.rows:
        late = row.rank == 5 and row.op == "AllReduce"
        assert row.lateness_seconds == pytest.approx(0.001 if late else 0.0, abs=0.0002)
        assert row.ticks == 19
        assert (row.node, row.gpu, row.members) == (f"node{row.rank // 4}", str(row.rank % 4), "0-7")


def test_bytes_and_back() -> None:
    baseline = built(Job())
    assert Baseline.from_bytes(baseline.to_bytes()) == baseline


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"format": 99}', b'{"format": 1, "rows": {}}', b"\xff"])
def test_bytes_that_are_no_baseline(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Baseline.from_bytes(data)


def test_nothing_to_learn_from() -> None:
    assert BaselineBuilder(SETTINGS).build().rows == ()


@pytest.mark.parametrize(("of", "ticks"), [("job", 59 - 30), ("", 59 - 30), ("another", 59)])
def test_leaves_out_incidents_of_the_job(of: str, ticks: int) -> None:
    job = Job()
    start = job.start + 20
    builder = BaselineBuilder(SETTINGS, [JobIncident(of, start, start + 60)])
    for number, snapshot in enumerate(job.ticks(60)):
        job.delay_seconds[3] = 0.005 if 9 <= number < 38 else 0.0
        builder.add(snapshot)
    row = next(row for row in builder.build().rows if row.rank == 3 and row.op == "AllReduce")
    assert row.lateness_seconds == pytest.approx(0.0, abs=0.0001)
    assert row.ticks == ticks


def test_partial_answers_are_not_learnt_from() -> None:
    job = Job()
    job.warnings = ("half is missing",)
    assert built(job).rows == ()


def test_the_first_seconds_and_operations_are_not_learnt_from() -> None:
    job = Job()
    settings = BaselineSettings.model_validate({"warm_up": "1h", "warm_up_operations": 10_000_000})
    builder = BaselineBuilder(settings)
    for snapshot in job.ticks(30):
        builder.add(snapshot)
    assert builder.build().rows == ()


def test_leaves_out_communicators_with_a_member_where_it_is_frozen() -> None:
    job = Job()
    began, ended = job.start + 10.0, job.start + 20.0
    for place, ticks in ((Place("node1"), 14), (Place("node1", gpu="2"), 14), (Place("elsewhere"), 19)):
        builder = BaselineBuilder(SETTINGS, frozen=[Freeze(place, began, ended)])
        for snapshot in Job().ticks(20):
            builder.add(snapshot)
        assert {row.ticks for row in builder.build().rows} == {ticks}
