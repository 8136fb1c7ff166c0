import numpy as np
import pytest
from history.looks import Watcher, job
from hypothesis import given
from hypothesis import strategies as st

from sentinel.history.column import Column, RankMeans, measure_ranks, median_column


def means(ranks: list[int], late: list[float], duration: list[float] | None = None) -> RankMeans:
    return RankMeans(
        np.array(ranks, dtype=np.int32),
        np.array(late, dtype=np.float32),
        np.array(late if duration is None else duration, dtype=np.float32),
    )


def column(time: float, found: RankMeans, state: str = "watching", findings: int = 0) -> Column:
    return Column(time, state, findings, found)


def test_a_late_rank_is_late_by_its_delay_and_inside_for_less() -> None:
    watched = job()
    watched.delay_seconds[3] = 0.002
    *_, last = Watcher().looks(watched, 4)
    (found,) = measure_ranks(last.lateness).values()
    assert found.ranks.tolist() == list(range(8))
    # Two operations a step, and it is late at the first of them only.
    assert found.lateness_seconds[3] == pytest.approx(0.001, rel=0.2)
    assert found.lateness_seconds[[0, 1, 2, 4, 5, 6, 7]] == pytest.approx(0.0, abs=1e-4)
    assert int(np.argmin(found.duration_seconds)) == 3


def test_nothing_measured_is_nobody() -> None:
    watched = job()
    watched.paused = True
    *_, last = Watcher().looks(watched, 3)
    assert measure_ranks(last.lateness) == {}


def test_a_bin_holds_medians_by_rank() -> None:
    found = median_column(
        300.0,
        [
            column(30.0, means([0, 1], [1.0, 5.0])),
            column(60.0, means([0, 1], [9.0, 6.0])),
            column(90.0, means([0, 2], [2.0, 7.0])),
            column(120.0, means([], [])),
        ],
    )
    assert found.time == 300.0
    assert found.means.ranks.tolist() == [0, 1, 2]
    assert found.means.lateness_seconds.tolist() == [2.0, 5.5, 7.0]


def test_a_bin_tells_a_stall_however_short_and_the_most_findings() -> None:
    ticks = [column(30.0 * at, means([], []), "watching", at % 3) for at in range(1, 9)]
    assert median_column(300.0, ticks).state == "watching"
    assert median_column(300.0, ticks).findings == 2
    assert median_column(300.0, [*ticks, column(290.0, means([], []), "stalled")]).state == "stalled"


@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.floats(-1, 1, width=32) | st.just(float("nan")), max_size=5),
        min_size=1,
        max_size=9,
    )
)
def test_medians_are_those_of_numpy(rows: list[dict[int, float]]) -> None:
    found = median_column(
        300.0,
        [column(float(at), means(sorted(row), [row[rank] for rank in sorted(row)])) for at, row in enumerate(rows)],
    )
    for rank, value in zip(found.means.ranks.tolist(), found.means.lateness_seconds.tolist(), strict=True):
        known = [row[rank] for row in rows if rank in row and row[rank] == row[rank]]
        expected = float(np.float32(np.median(np.array(known, dtype=np.float32)))) if known else float("nan")
        assert value == pytest.approx(expected, abs=1e-6, nan_ok=True)
