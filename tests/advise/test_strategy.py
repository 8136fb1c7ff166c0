"""What is advised, and what is not."""

from collections.abc import Sequence

import pytest
from advise.runs import Job, Kind, history

from sentinel.advise.collector import Collector
from sentinel.advise.strategy import Advice, Reason, Verdict, advise


def advices(*jobs: Job, ticks: int = 30) -> dict[tuple[str, int, str, str], Advice]:
    """By job, size, algorithm and protocol."""
    collector = Collector()
    for snapshot, volume in history(jobs, ticks):
        collector.add(snapshot, volume)
    found = advise(collector.measurements())
    rows = [(each.measurement, each) for each in found]
    return {(row.hardware.job_id, row.size_bytes, row.algo, row.proto): each for row, each in rows}


def pair(now: Sequence[Kind], other: Sequence[Kind], **changes: object) -> tuple[Job, Job]:
    """Two runs one after the other are two jobs on the same nodes."""
    second: dict[str, object] = {"job_id": "b", "comm": "00000000000000bb", "seed": 2, **changes}
    return Job(now), Job(other, **second)  # type: ignore[arg-type]


NOW = ("a", 1 << 20, "RING", "SIMPLE")
OTHER = ("b", 1 << 20, "TREE", "SIMPLE")


def test_what_measured_faster_on_the_same_nodes_is_to_be_tried() -> None:
    found = advices(*pair([Kind(1.2e-3)], [Kind(1e-3, algo="TREE")]))
    (experiment,) = found[NOW].experiments
    assert found[NOW].verdict is Verdict.EXPERIMENT
    assert experiment.other.setting == ("TREE", "SIMPLE")
    assert experiment.speedup.low < 1.2 < experiment.speedup.high
    assert experiment.speedup.ratio == pytest.approx(1.2, rel=0.02)
    assert experiment.speedup.size_penalty == 1.0  # the same messages
    assert 0 < experiment.saved_ratio < found[NOW].measurement.time_ratio / 6
    assert (found[OTHER].verdict, found[OTHER].reason) == (Verdict.BEST_MEASURED, None)


def test_other_nodes_ranks_or_roles_tell_nothing() -> None:
    faster = [Kind(0.5e-3, algo="TREE")]
    for change in ({"nodes": ("n0", "n9")}, {"nranks": 8}, {"comm_name": "tp"}, {"nodes": ("n0",)}):
        found = advices(*pair([Kind(1e-3)], faster, **change))
        assert found[NOW].reason is Reason.NOTHING_TO_COMPARE, change


def test_no_experiment_where_the_interval_holds_no_gain() -> None:
    jobs = pair([Kind(1.05e-3)], [Kind(1e-3, algo="TREE")], noise=0.1)
    jobs[0].noise = 0.1
    found = advices(*jobs, ticks=5)
    assert found[NOW].reason is Reason.WITHIN_UNCERTAINTY
    assert found[NOW].verdict is Verdict.CANNOT_TELL


def test_false_experiments_are_rare() -> None:
    named = 0
    for seed in range(100):
        jobs = (
            Job([Kind(1e-3)], noise=0.1, seed=seed),
            Job([Kind(1e-3, algo="TREE")], job_id="b", comm="00000000000000bb", noise=0.1, seed=1000 + seed),
        )
        named += any(each.experiments for each in advices(*jobs, ticks=12).values())
    assert named <= 5  # each of the two rows errs in 2.5% at most, less the 3% that a speedup must have


def test_windows_that_are_too_few_tell_nothing() -> None:
    found = advices(*pair([Kind(2e-3)], [Kind(1e-3, algo="TREE")]), ticks=2)
    assert found[NOW].reason is Reason.TOO_FEW_WINDOWS


def test_within_one_communicator_sizes_may_differ() -> None:
    job = Job([Kind(1.5e-3, message_bytes=2_000_000), Kind(1e-3, message_bytes=1_100_000, algo="TREE")])
    found = advices(job)
    assert found[NOW].reason is Reason.SIZES_MAY_DIFFER
    assert not found["a", 1 << 20, "TREE", "SIMPLE"].experiments
    far = advices(Job([Kind(2.5e-3, message_bytes=2_000_000), Kind(1e-3, message_bytes=1_100_000, algo="TREE")]))
    (experiment,) = far[NOW].experiments  # more than twice the time cannot be the size alone
    assert experiment.speedup.size_penalty == pytest.approx(2.0, rel=0.01)


def test_another_mix_of_messages_is_not_the_same_message() -> None:
    small = Kind(1e-4, message_bytes=1024)
    found = advices(
        *pair([Kind(1.3e-3, message_bytes=2_000_000), small], [Kind(1e-3, message_bytes=1_100_000, algo="TREE")])
    )
    assert found[NOW].reason is Reason.SIZES_MAY_DIFFER


def test_scattered_arrivals_may_explain_a_longer_time() -> None:
    jobs = (
        Job([Kind(1e-3)], jitter_seconds=3e-4, noise=0.0),
        Job([Kind(1e-3, algo="TREE")], job_id="b", comm="00000000000000bb", jitter_seconds=1e-6, noise=0.0),
    )
    found = advices(*jobs)
    assert found[NOW].reason is Reason.WAITING_MAY_EXPLAIN


def test_a_late_rank_changes_no_advice() -> None:
    now, other = pair([Kind(1e-3)], [Kind(1e-3, algo="TREE")])
    now.late_seconds = (0.0, 2e-3, 0.0, 0.0)
    assert not any(each.experiments for each in advices(now, other).values())


def test_a_longer_message_that_took_less_time_is_evidence() -> None:
    kinds = [Kind(1e-3), Kind(0.6e-3, message_bytes=1 << 22, algo="TREE")]
    (experiment,) = advices(Job(kinds))[NOW].experiments[:1]
    assert (experiment.other.size_bytes, experiment.is_message_size) == (1 << 22, False)
    assert experiment.speedup.ratio == pytest.approx(1 / 0.6, rel=0.05)


def test_a_shorter_message_counts_by_its_bytes() -> None:
    kinds = [Kind(1e-3), Kind(0.4e-3, message_bytes=1 << 19, algo="TREE")]
    (experiment,) = advices(Job(kinds))[NOW].experiments[:1]
    assert experiment.speedup.ratio == pytest.approx(1 / 0.8, rel=0.05)
    kinds = [Kind(1e-3), Kind(0.6e-3, message_bytes=1 << 19, algo="TREE")]
    assert not advices(Job(kinds))[NOW].experiments


def test_longer_messages_are_advised_where_time_is_spent() -> None:
    kinds = [Kind(1e-3, message_bytes=1 << 20, per_tick=1000), Kind(2e-3, message_bytes=1 << 23)]
    (experiment,) = advices(Job(kinds))[NOW].experiments
    assert experiment.is_message_size
    assert experiment.speedup.ratio == pytest.approx(4.0, rel=0.05)
    seldom = [Kind(1e-3, message_bytes=1 << 20, per_tick=2), Kind(2e-3, message_bytes=1 << 23)]
    assert not advices(Job(seldom))[NOW].experiments
    farther = [Kind(1e-3, message_bytes=1 << 20, per_tick=1000), Kind(2e-3, message_bytes=1 << 27)]
    assert not advices(Job(farther))[NOW].experiments


def test_a_setting_that_is_slower_at_other_sizes_says_so() -> None:
    now = [Kind(1.3e-3), Kind(2e-3, message_bytes=1 << 24)]
    other = [Kind(1e-3, algo="TREE"), Kind(3e-3, message_bytes=1 << 24, algo="TREE")]
    (experiment,) = advices(*pair(now, other))[NOW].experiments
    ((size, ratio),) = experiment.slower_at
    assert (size, ratio) == (1 << 24, pytest.approx(1.5, rel=0.05))


def test_operations_that_do_not_synchronize_are_not_compared() -> None:
    found = advices(*pair([Kind(2e-3, op="Broadcast")], [Kind(1e-3, op="Broadcast", algo="TREE")]))
    assert found[NOW].reason is Reason.NOT_SYNCHRONIZING
