"""What the sampling check calls wrong."""

import pytest
from gpu.pair.counts import Counts
from gpu.sampling import FIRST, SECOND, SLOW, problems


def sampled(started: int, measured: int, **changes: int) -> Counts:
    return Counts(**{"started": started, "measured": measured, "skipped": started - measured, **changes})


def job(**changes: Counts) -> dict[tuple[str, int], Counts]:
    good = {"a": sampled(FIRST, 180), "b": sampled(SECOND, 100), "c": sampled(SLOW, SLOW)}
    return {(name, rank): changes.get(f"{name}{rank}", count) for name, count in good.items() for rank in (0, 1)}


def test_a_job_whose_ranks_agree_has_no_problems() -> None:
    assert problems(job()) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"a1": sampled(FIRST, 184)}, "the same operations"),
        ({"b0": sampled(SECOND, 100, skipped=SECOND - 102, refused=2)}, "2 refused"),
        ({"b0": sampled(SECOND, 100, skipped=SECOND - 101)}, "1 open or dropped"),
        ({"a0": sampled(FIRST, 0), "a1": sampled(FIRST, 0)}, "not sampled"),
        ({"a0": sampled(FIRST, FIRST), "a1": sampled(FIRST, FIRST)}, "not sampled"),
        ({"c0": sampled(SLOW, 64), "c1": sampled(SLOW, 64)}, "not timed whole"),
        ({"a0": sampled(FIRST - 1, 180), "a1": sampled(FIRST - 1, 180)}, "launched"),
    ],
)
def test_a_job_that_is_wrong_says_so(changes: dict[str, Counts], said: str) -> None:
    assert any(said in problem for problem in problems(job(**changes)))


def test_a_rank_that_was_not_seen_is_a_problem() -> None:
    counts = job()
    del counts[("b", 1)]
    assert any("ranks [0]" in problem for problem in problems(counts))
