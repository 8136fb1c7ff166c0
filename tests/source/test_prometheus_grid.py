import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel.model.vocabulary import Vocabulary
from sentinel.source.prometheus_answer import Answer
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_labels import LabelReader

COMM = "00000000000000aa"
RANK = {"comm": COMM, "rank": "3"}
INSTANT = Axis(start=10_000, step=1, count=1, instant=True)
RANGE = Axis(start=10_000, step=2_000, count=3)


def read(series: list[object], axis: Axis, metrics: tuple[str, ...] = ("",)) -> Grid:
    return read_grid(Answer(iter(series), len(series)), ("comm", "rank"), LabelReader(Vocabulary()), axis, metrics)


def test_metrics_of_one_key_share_a_row() -> None:
    series = [
        {"metric": {"__name__": "a", **RANK}, "value": [10, "1"]},
        {"metric": {"__name__": "b", **RANK}, "value": [10, "2"]},
        {"metric": {"__name__": "b", "comm": COMM, "rank": "4"}, "value": [10, "3"]},
    ]
    keys, (a, b) = read(series, INSTANT, ("a", "b")).at(0)
    assert keys[:, 1].tolist() == [3, 4]
    np.testing.assert_array_equal(a, [1, np.nan])
    np.testing.assert_array_equal(b, [2, 3])


def test_a_range_puts_each_sample_at_its_instant() -> None:
    grid = read([{"metric": RANK, "values": [[10, "1"], [14.0, "2"]]}], RANGE)
    assert [len(grid.at(column)[0]) for column in range(3)] == [1, 0, 1]
    assert grid.at(2)[1][0].tolist() == [2.0]


@pytest.mark.parametrize(
    "metric",
    [
        {"rank": "3"},
        {"comm": COMM},
        {"comm": COMM + "0", "rank": "3"},
        {"comm": "g" * 16, "rank": "3"},
        {"comm": COMM, "rank": "-3"},
        {"comm": COMM, "rank": "03"},
        {"comm": COMM, "rank": "9999999999"},
        {"comm": COMM, "rank": "three"},
        {"comm": COMM, "rank": 3},
        {"comm": COMM, "rank": ["3"]},
        [],
        None,
    ],
)
def test_labels_that_break_the_contract_are_counted(metric: object) -> None:
    good = {"metric": RANK, "value": [10, "1"]}
    grid = read([good, {"metric": metric, "value": [10, "1"]}], INSTANT)
    assert len(grid.at(0)[0]) == 1
    assert grid.malformed.tolist() == [1]
    grid = read([{"metric": metric, "values": [[10, "1"], [14, "1"]]}], RANGE)
    assert len(grid.keys) == 0
    assert grid.malformed.tolist() == [1, 0, 1]


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "one", None, []])
def test_values_that_no_counter_has_are_counted(value: object) -> None:
    grid = read([{"metric": RANK, "value": [10, value]}], INSTANT)
    assert len(grid.at(0)[0]) == 0
    assert grid.malformed.tolist() == [1]


def test_one_bad_value_in_a_range_costs_only_its_instant() -> None:
    grid = read([{"metric": RANK, "values": [[10, "1"], [12, "NaN"], [14, "3"]]}], RANGE)
    assert [len(grid.at(column)[0]) for column in range(3)] == [1, 0, 1]
    assert grid.malformed.tolist() == [0, 1, 0]


@pytest.mark.parametrize("time", [8, 11, 16])
def test_a_sample_of_an_instant_that_was_not_asked_for_is_malformed(time: int) -> None:
    grid = read([{"metric": RANK, "values": [[time, "1"]]}], RANGE)
    assert len(grid.at(0)[0]) == 0
    assert grid.malformed.sum() > 0


def test_a_histogram_is_no_counter() -> None:
    assert read([{"metric": RANK, "histogram": [10, {}]}], INSTANT).malformed.tolist() == [1]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SERIES = st.fixed_dictionaries(
    {},
    optional={
        "metric": JSON | st.fixed_dictionaries({"comm": JSON | st.just(COMM), "rank": JSON | st.just("3")}),
        "value": JSON,
        "values": JSON,
    },
)


@example([{"metric": None, "values": [[None]]}])
@example([{"metric": {"comm": COMM, "rank": "3"}, "values": [[float("inf"), "1"], [1e300, "1"]]}])
@given(st.lists(SERIES | JSON, max_size=5))
def test_whatever_a_server_sends_each_series_is_read_or_counted(series: list[object]) -> None:
    instant = read(series, INSTANT)
    assert len(instant.at(0)[0]) + instant.malformed[0] <= len(series)
    assert len(instant.keys) + instant.malformed[0] >= bool(series)
    read(series, RANGE)
