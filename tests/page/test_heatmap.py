import base64

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from page.scenes import column, means, roster
from servers.incidents import INCIDENT, incident

from sentinel.history.column import Column
from sentinel.model.place_rank import place_rank
from sentinel.page.heatmap import heatmap_document, marks, matrix, packed


def unpacked(packed_: dict) -> np.ndarray:
    document = orjson.loads(orjson.dumps(packed_))
    assert document["type"] == "float32"
    return np.frombuffer(base64.b64decode(document["base64"]), "<f4").reshape(document["shape"])


def test_rows_are_ranks_and_columns_times() -> None:
    found = matrix(roster(3), [column(30.0, [1.0, 2.0, 3.0]), column(60.0, [4.0, 5.0, 6.0])], "lateness")
    assert found.ranks.tolist() == [0, 1, 2]
    assert found.seconds.tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_who_was_not_measured_is_not_known() -> None:
    columns = [column(30.0), Column(60.0, "watching", 0, means([7.0], [1])), Column(90.0, "gone", 0, means([8.0], [9]))]
    found = matrix(roster(2), columns, "lateness").seconds
    assert np.isnan(found[0]).all()
    assert found[1, 1] == 7.0
    assert np.isnan(found[1, [0, 2]]).all()


def test_durations_are_shown_as_well() -> None:
    document = heatmap_document(roster(2), [column(30.0, [0.0, 0.001])], "duration", [])
    assert unpacked(document["seconds"]) == pytest.approx(np.array([[0.002], [0.001]]), rel=1e-3)


def test_a_communicator_without_anybody_is_empty() -> None:
    document = heatmap_document(roster(0), [column(30.0)], "lateness", [])
    assert document["seconds"]["shape"] == [0, 1]
    assert heatmap_document(roster(2), [], "lateness", [])["seconds"]["shape"] == [2, 0]


@given(arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e3, 1e3, width=32)))
def test_what_is_packed_keeps_three_digits(values: np.ndarray) -> None:
    assert unpacked(packed(values)) == pytest.approx(values, rel=5e-4, abs=1e-37)


def test_what_is_no_number_stays_none() -> None:
    found = unpacked(packed(np.array([[np.nan, np.inf, -np.inf, 1.0]], dtype=np.float32)))
    assert np.isnan(found[0, :3]).all()
    assert found[0, 3] == 1.0


def test_culprits_are_marked_by_their_rank_in_the_communicator() -> None:
    shown = roster(4, first=2)  # its rank 1 is global rank 3
    (mark,) = marks(shown, [INCIDENT])
    assert (mark["incident"], mark["ranks"], mark["tier"], mark["ended_at"]) == (INCIDENT.id, [1], "P1", None)


def test_who_is_in_another_communicator_of_the_job_is_marked_there_too() -> None:
    assert marks(roster(4, comm="00000000000000bb"), [INCIDENT])[0]["ranks"] == [3]
    assert marks(roster(3), [INCIDENT]) == []
    assert marks(roster(4, job="another"), [INCIDENT]) == []


def test_without_culprits_all_of_the_communicator_is_marked() -> None:
    fabric = incident(ranks=())
    assert marks(roster(4), [fabric])[0]["ranks"] == []
    assert marks(roster(4, comm="00000000000000bb"), [fabric]) == []


def test_a_number_that_stands_for_a_place_is_no_rank() -> None:
    first = place_rank("node0", "0")
    document = heatmap_document(roster(2, first=first), [], "lateness", [incident(ranks=(first + 1,))])
    assert (document["ranks"], document["global_ranks"]) == ([0, 1], [None, None])
    assert document["marks"][0]["ranks"] == [1]


def test_of_too_many_ranks_the_conspicuous_and_the_marked_are_shown() -> None:
    late = np.zeros(5000, dtype=np.float32)
    late[4321] = 1.0
    shown = roster(5000)
    document = heatmap_document(shown, [column(30.0, late)], "lateness", [incident(ranks=(4999,))])
    assert document["ranks_left_out"] == 904
    assert {4321, 4999} <= set(document["ranks"])
    assert document["ranks"] == sorted(document["ranks"])
    assert len(document["ranks"]) == len(document["global_ranks"]) == document["seconds"]["shape"][0] == 4096
