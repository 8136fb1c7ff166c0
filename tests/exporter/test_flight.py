from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nccl_exporter import flight, layout
from nccl_exporter.flight import Flights

SECOND = 1_000_000_000
NOW = 1000 * SECOND
TICK = 1 << layout.FLIGHT_TIME_UNIT


def decoded(
    row: Any, commits: list[int] | None = None, launched: int = 0, opened: int = 1, **times: int
) -> tuple[Flights, Counter[str]]:
    """What is in flight in a communicator whose first `opened` operations are there."""
    rejected: Counter[str] = Counter()
    found = flight.decode(
        row["in_flight"],
        np.array(commits or [], np.uint64),
        np.full(layout.OPERATIONS, launched, np.uint64),
        np.arange(layout.OPERATIONS) < opened,
        **{"since_ns": 0, "now_ns": NOW, **times},
        rejected=rejected,
    )
    return found, rejected


def test_nothing(mapped_file: Any) -> None:
    found, rejected = decoded(mapped_file.communicator())
    assert (found.in_flight.sum(), found.uncounted.sum(), found.oldest_ns, rejected) == (0, 0, None, {})


def test_oldest_and_number_by_row(mapped_file: Any) -> None:
    row = mapped_file.communicator()
    mapped_file.fly(row, 0, NOW - SECOND, row=0)
    mapped_file.fly(row, 5, NOW - 3 * SECOND, row=1)
    mapped_file.fly(row, 1023, NOW - 2 * SECOND, row=1)
    found, rejected = decoded(row, launched=1, opened=2)
    assert found.in_flight[:3].tolist() == [1, 2, 0]
    assert found.oldest_ns is not None
    assert 0 <= NOW - 3 * SECOND - found.oldest_ns < TICK
    assert not rejected


def test_word_that_a_commit_names_has_ended(mapped_file: Any) -> None:
    row = mapped_file.communicator()
    ended = mapped_file.fly(row, 700, NOW - SECOND, generation=1025)
    mapped_file.fly(row, 701, NOW - SECOND, generation=1025)
    found, _ = decoded(row, [ended | 9 << layout.COMMIT_SHIFT, 9 << layout.COMMIT_SHIFT])
    assert found.in_flight[0] == 1
    later = ended & ~layout.COMMIT_NAMES  # names nothing
    assert decoded(row, [later])[0].in_flight[0] == 2


def test_word_of_a_later_generation_at_the_same_place_is_in_flight(mapped_file: Any) -> None:
    row = mapped_file.communicator()
    ended = mapped_file.fly(row, 3, NOW, generation=8)
    mapped_file.fly(row, 3, NOW, generation=9)
    assert decoded(row, [ended])[0].in_flight[0] == 1


@pytest.mark.parametrize(
    ("launched", "numbers", "uncounted"),
    [
        (5, [3, 4], 0),
        (5, [3, 4, 5], 1),
        (5, [5, 6, 7], 3),
        (4096, [4095, 4096], 1),
        (4095, [4094, 4095, 4096], 2),
        (2**40 + 1, [2**40, 2**40 + 1], 1),
        (0, [4095], 0),
    ],
)
def test_launched_and_not_counted_yet(mapped_file: Any, launched: int, numbers: list[int], uncounted: int) -> None:
    row = mapped_file.communicator()
    for place, number in enumerate(numbers):
        mapped_file.fly(row, place, NOW, number=number)
    assert decoded(row, launched=launched)[0].uncounted[0] == uncounted


@pytest.mark.parametrize(
    ("launched_ns", "row"), [(NOW + 2 * TICK, 0), (2**57, 0), (NOW, 1), (100 * SECOND - 2 * TICK, 0)]
)
def test_word_that_cannot_be_is_refused(mapped_file: Any, launched_ns: int, row: int) -> None:
    communicator = mapped_file.communicator()
    mapped_file.fly(communicator, 0, launched_ns, row=row)
    found, rejected = decoded(communicator, since_ns=100 * SECOND)
    assert (found.oldest_ns, rejected) == (None, {"in_flight": 1})


@given(
    words=st.lists(st.integers(0, 2**64 - 1), max_size=50),
    commits=st.lists(st.integers(0, 2**64 - 1), max_size=20),
    launched=st.integers(0, 2**64 - 1),
    since_ns=st.integers(0, 2**64 - 1),
    now_ns=st.integers(0, 2**63 - 1),
)
def test_any_words(words: list[int], commits: list[int], launched: int, since_ns: int, now_ns: int) -> None:
    ring = np.zeros(layout.IN_FLIGHT, np.uint64)
    ring[: len(words)] = words
    rejected: Counter[str] = Counter()
    found = flight.decode(
        ring,
        np.array(commits, np.uint64),
        np.full(layout.OPERATIONS, launched, np.uint64),
        np.ones(layout.OPERATIONS, np.bool_),
        since_ns=since_ns,
        now_ns=now_ns,
        rejected=rejected,
    )
    named = len(flight.named(ring, np.array(commits, np.uint64)))
    assert found.in_flight.sum() + rejected["in_flight"] + named >= np.count_nonzero(ring)
    assert (found.uncounted <= found.in_flight).all()
    if found.oldest_ns is not None:
        assert found.oldest_ns <= now_ns
