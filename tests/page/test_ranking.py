import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from page.scenes import column, roster
from servers.incidents import INCIDENT

from sentinel.model.place_rank import place_rank
from sentinel.page.ranking import quantiles, ranking_document


def test_the_latest_is_first_and_the_accused_is_told() -> None:
    columns = [column(30.0 * at, [0.0, 1e-5, -1e-5, 1e-3]) for at in range(1, 6)]
    found = ranking_document(roster(4), [*columns, column(180.0, [0.0, 0.0, 0.0, 2e-3])], [INCIDENT])["ranks"]
    assert [each["rank"] for each in found] == [3, 1, 0, 2]
    assert found[0]["incidents"] == [INCIDENT.id]
    assert found[0]["lateness_median_seconds"] == pytest.approx(1e-3)
    assert found[0]["lateness_newest_seconds"] == pytest.approx(2e-3)
    assert found[0]["duration_median_seconds"] == pytest.approx(1e-3)
    assert (found[0]["node"], found[0]["gpu"], found[1]["incidents"]) == ("node1", "1", [])


def test_who_was_never_measured_is_last() -> None:
    found = ranking_document(roster(3), [column(30.0, [-1.0, -2.0])], [])["ranks"]
    assert [each["rank"] for each in found] == [0, 1, 2]
    assert np.isnan(found[2]["lateness_median_seconds"])


def test_a_number_that_stands_for_a_place_is_no_rank() -> None:
    found = ranking_document(roster(2, first=place_rank("node0", "0")), [], [])["ranks"]
    assert [(each["rank"], each["global_rank"]) for each in found] == [(0, None), (1, None)]


def test_nothing_recorded() -> None:
    assert len(ranking_document(roster(2), [], [])["ranks"]) == 2


@given(
    arrays.arrays(
        np.float32,
        arrays.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1, 1, width=32) | st.just(np.nan),
    )
)
def test_quantiles_are_those_of_numpy_over_what_is_known(values: np.ndarray) -> None:
    found = quantiles(values, (0.1, 0.5, 0.95))
    for row, got in zip(values, found, strict=True):
        known = row[~np.isnan(row)]
        expected = np.quantile(known, (0.1, 0.5, 0.95)) if len(known) else np.full(3, np.nan)
        assert got == pytest.approx(expected, abs=1e-6, nan_ok=True)
