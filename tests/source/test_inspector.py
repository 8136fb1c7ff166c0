"""What is made of labels and window means."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.model.place_rank import known_ranks, place_rank
from sentinel.source.inspector_counters import InspectorCounters, Reading
from sentinel.source.inspector_labels import algorithm_and_protocol, gpu_number, lower_bound_bytes
from sentinel.source.inspector_roster import GroupKey, Roster


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0B", 0),
        ("8-9B", 8),
        ("256-257KB", 256 << 10),
        ("4-5MB", 4 << 20),
        ("134-135MB", 134 << 20),
        ("2.00GB", 2 << 30),
        ("1-2TB", 1 << 40),
        ("", None),
        ("4-5", None),
        ("-5MB", None),
        ("1e9GB", None),
        ("99999999MB", None),
        ("unknown", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert lower_bound_bytes(text) == size


def test_names() -> None:
    assert algorithm_and_protocol("NVLS_TREE_SIMPLE") == ("NVLS_TREE", "SIMPLE")
    assert algorithm_and_protocol("unknown_unknown") == ("", "")
    assert algorithm_and_protocol("LL") == ("", "LL")
    assert (gpu_number("GPU3"), gpu_number("GPU-5a"), gpu_number("unknown")) == ("3", "GPU-5a", "")


@given(st.text(), st.text())
def test_a_place_stands_for_no_rank_and_is_always_the_same(node: str, gpu: str) -> None:
    number = place_rank(node, gpu)
    assert number == place_rank(node, gpu)
    assert 0 <= number < 1 << 31
    assert known_ranks((3, number, 7)) == (3, 7)


def key(nranks: int = 4, nnodes: int = 2, node: str = "") -> GroupKey:
    return GroupKey("4711", "", nranks, nnodes, node)


def test_more_gpus_than_ranks_are_no_one_communicator() -> None:
    places = [("a", str(gpu)) for gpu in range(8)]
    (group,) = Roster().call([(key(), place) for place in places[:4]]).values()
    assert group.is_one_communicator
    assert group.numbers == {place: number for number, place in enumerate(places[:4])}
    (group,) = Roster().call([(key(), place) for place in places]).values()
    assert not group.is_one_communicator


def test_numbers_stay_when_others_come_and_go() -> None:
    roster = Roster()
    roster.call([(key(), ("b", "0")), (key(), ("b", "10")), (key(), ("b", "2"))])
    (group,) = roster.call([(key(), ("a", "0")), (key(), ("b", "10"))]).values()
    assert group.numbers == {("b", "0"): 0, ("b", "2"): 1, ("b", "10"): 2, ("a", "0"): 3}
    assert group.members == {("a", "0"), ("b", "10")}


def test_ids_are_those_of_a_communicator_and_tell_keys_apart() -> None:
    ids = {key().comm, key(8).comm, key(4, 1, "a").comm, key(4, 1, "b").comm, key(4, 3).comm}
    assert len(ids) == 5
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in ids)


def reading(rank: int, microseconds: float, bandwidth: float = math.nan, cell: int = 1) -> Reading:
    return Reading((rank, cell), "g", (cell,), microseconds, bandwidth)


def test_a_window_counts_once() -> None:
    counters = InspectorCounters()
    counters.step(0.0, [reading(0, 100.0), reading(1, 200.0)])
    first = [each.operations for each in counters.step(30.0, [reading(0, 110.0), reading(1, 200.0)])]
    again = [each.operations for each in counters.step(60.0, [reading(0, 110.0), reading(1, 210.0)])]
    assert again[0] == first[0]
    assert again[1] > first[1]


def test_operations_fill_the_time_each_cell_as_often() -> None:
    counters = InspectorCounters()
    cells = {1: 100.0, 2: 300.0}
    start = counters.step(0.0, [reading(rank, us, cell=cell) for cell, us in cells.items() for rank in (0, 1)])
    before = [(each.operations, each.seconds) for each in start]
    after = counters.step(30.0, [reading(rank, us + 1, cell=cell) for cell, us in cells.items() for rank in (0, 1)])
    gained = [(each.operations - n, each.seconds - s) for each, (n, s) in zip(after, before, strict=True)]
    assert len({round(n, 6) for n, _ in gained}) == 1
    assert gained[0][1] + gained[2][1] == pytest.approx(30.0)


def test_geometric_means_follow_from_bandwidths() -> None:
    """Of ranks that move the same bytes; one of them does not scatter."""
    steady, scattered = [100.0] * 4, [50.0, 100.0, 200.0, 400.0]
    size = 4096.0

    def said(rank: int, durations: list[float]) -> Reading:
        bandwidth = math.exp(sum(math.log(size / each) for each in durations) / 4)
        return reading(rank, sum(durations) / 4, bandwidth)

    known = InspectorCounters().step(0.0, [said(0, steady), said(1, scattered)])
    means = [math.exp(each.log_microseconds / each.operations) for each in known]
    assert means == pytest.approx([100.0, (50 * 100 * 200 * 400) ** 0.25])
    assert [1e6 * each.seconds / each.operations for each in known] == pytest.approx([100.0, 187.5])


def test_without_bandwidth_the_mean_stands_for_both() -> None:
    (known,) = InspectorCounters().step(0.0, [reading(0, 123.0)])
    assert math.exp(known.log_microseconds / known.operations) == pytest.approx(123.0)
