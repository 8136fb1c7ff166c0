from hypothesis import given
from hypothesis import strategies as st

from sentinel.model.place_rank import place_rank
from sentinel.page.evidence import evidence_parts, victim_ranks


def test_numbers_have_units_and_lists_of_things_are_tables() -> None:
    cells = [{"op": "AllReduce", "lateness_seconds": 0.001}, {"op": "AllGather", "operations": 3}]
    found = evidence_parts(
        {"lateness_seconds": 0.00104, "cells": cells, "ranks": [1, 2], "hot": True, "nothing": None, "empty": []}
    )
    assert found == [
        {"name": "lateness", "value": "1.04 ms"},
        {
            "name": "cells", "columns": ["op", "lateness", "operations"],
            "rows": [["AllReduce", "1 ms", "–"], ["AllGather", "–", "3"]], "left_out": 0,
        },
        {"name": "ranks", "value": "1, 2"},
        {"name": "hot", "value": "yes"},
    ]  # fmt: skip


def test_what_is_inside_has_its_outer_name() -> None:
    assert evidence_parts({"late_because_of_it": {"ranks": 3}}) == [{"name": "late because of it: ranks", "value": "3"}]


def test_long_lists_are_cut_and_say_so() -> None:
    (ranks,) = evidence_parts({"ranks": list(range(100))})
    assert ranks["value"].endswith("63 … and 36 more")
    (cells,) = evidence_parts({"cells": [{"op": "AllReduce"}] * 100})
    assert (len(cells["rows"]), cells["left_out"]) == (64, 36)


def test_a_number_that_stands_for_a_place_is_no_rank() -> None:
    place = place_rank("node0", "3")
    evidence = {
        "peer_rank": place,
        "waiting_ranks": [place],
        "ranks_without_data": 3,
        "operations_behind": [{"rank": place, "operations": 9}],
    }
    assert evidence_parts(evidence) == [
        {"name": "ranks without data", "value": "3"},
        {"name": "operations behind", "columns": ["rank", "operations"], "rows": [["–", "9"]], "left_out": 0},
    ]
    assert victim_ranks(evidence) == []


def test_victims_are_those_that_are_named() -> None:
    assert victim_ranks({"waiting_ranks": [0, 2]}) == [0, 2]
    assert victim_ranks({"late_because_of_it": {"ranks": 9, "first_ranks": [5]}}) == [5]
    assert victim_ranks({"waiting_ranks": "0"}) == []  # of another version


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), _JSON))
def test_whatever_it_is_it_becomes_text(evidence: dict[str, object]) -> None:
    for part in evidence_parts(evidence):
        lines = [[part["value"]]] if "value" in part else [part["columns"], *part["rows"]]
        assert all(isinstance(text, str) for line in ([part["name"]], *lines) for text in line)
