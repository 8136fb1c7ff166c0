"""Labels of rows and their groups, kept from tick to tick."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentinel.measure.groups import group_rows
from sentinel.measure.labels import LabelReader, Labels

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=30)


def codes(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int32)


@given(ROWS)
def test_groups_of_a_part_are_those_of_its_rows_alone(rows: list[tuple[int, int, bool]]) -> None:
    comm, rank, kept = (np.array([row[at] for row in rows], dtype=kind) for at, kind in enumerate((int, int, bool)))
    part = Labels(comm=comm, rank=rank).where(kept)
    number, first = group_rows(comm[kept], rank[kept])
    groups = part.groups("comm", "rank")
    assert groups.of.tolist() == number.tolist()
    assert groups.first.tolist() == first.tolist()
    assert part["rank"].tolist() == rank[kept].tolist()
    assert part.distinct("comm") == set(comm[kept].tolist())


def test_the_same_rows_have_the_same_labels_and_groups() -> None:
    labels = Labels(comm=codes([1, 1, 2]))
    kept = np.array([True, False, True])
    part = labels.where(kept)
    assert labels.where(kept.copy()) is part
    assert labels.where(np.array([False, True, True])) is not part
    assert labels.where(np.ones(3, dtype=bool)) is labels
    assert part.groups("comm") is part.groups("comm")


def test_rows_that_have_one_of_some_codes() -> None:
    labels = Labels(comm=codes([7, 3, 7, 5]))
    assert labels.among("comm", {7, 5, 9}).tolist() == [True, False, True, True]
    assert labels.among("comm", set()).tolist() == [False] * 4


def test_labels_of_the_tick_before_are_recognized_in_other_arrays() -> None:
    reader = LabelReader()
    labels = reader.read(comm=codes([1, 2]), rank=codes([0, 0]))
    assert reader.read(comm=codes([1, 2]), rank=codes([0, 0])) is labels
    other = reader.read(comm=codes([1, 2]), rank=codes([0, 1]))
    assert other["rank"].tolist() == [0, 1]
    assert len(reader.read(comm=codes([1]), rank=codes([0]))) == 1
