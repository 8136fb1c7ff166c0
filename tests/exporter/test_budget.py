"""Series past the budget fold into `other`; nothing jumps, nothing falls, nothing grows."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nccl_exporter import catalogue, layout, page
from nccl_exporter.model import Communicator, Key
from nccl_exporter.reader import Reader

Tables = dict[tuple[int, str, Key], tuple[float, ...]]


def tables(found: list[Communicator]) -> Tables:
    """Every series by communicator, table and key."""
    return {
        (each.id, name, key): values
        for each in found
        for name in catalogue.SERIES_BY_TABLE
        for key, values in getattr(each, name).by_key().items()
    }


def used(found: list[Communicator]) -> int:
    return sum(map(page.series, found))


def cells(found: list[Communicator]) -> dict[Key, tuple[float, ...]]:
    return found[0].cells.by_key()


@pytest.fixture
def scrape(descriptor: int, clock: Any) -> Callable[[int], Callable[[], list[Communicator]]]:
    def make(series: int) -> Callable[[], list[Communicator]]:
        reader = Reader(clock, series)
        made: Any = lambda: reader.communicators(descriptor)  # noqa: E731
        made.reader = reader
        return made  # type: ignore[no-any-return]

    return make


def fill(file: Any, row: Any, collectives: int = 5) -> None:
    """Every row of every table."""
    names = [f"Collective{number}" for number in range(collectives)]
    for index, name in enumerate([*names, "Send", "Recv"]):
        file.operation(row, index, name, kind=int(index >= collectives), launched=1000)
    for index in range(layout.CELLS):
        algo, proto = ("RING", "TREE", "NVLS")[index % 3], ("LL", "LL128", "SIMPLE")[index // 3 % 3]
        file.cell(row, index, names[index % collectives], index // 2, algo=algo, proto=proto, operations=index + 1)
    for index in range(layout.PEERS):
        file.peer(row, index, ("Send", "Recv")[index % 2], index // 2, 10, operations=index + 1)
    for index in range(layout.LINKS):
        file.link(row, index, index // 2, index % 2, operations=index + 1)
    row["channels"]["operations"], row["channels"]["duration_ns"] = 3, 5


@pytest.fixture
def full_file(mapped_file: Any) -> Any:
    """A job's rank with four communicators in which everything is used that there is."""
    for slot in range(4):
        fill(mapped_file, mapped_file.communicator(slot, comm=slot + 1, nranks=128))
    return mapped_file


def test_default_holds_for_four_communicators_with_full_tables(full_file: Any, scrape: Callable[..., Any]) -> None:
    found = scrape(350)()
    assert len(found) == 4
    assert used(found) <= 350
    kept = scrape(10**6)()
    assert used(kept) > 4000
    for before, after in zip(kept, found, strict=True):
        assert after.operations == before.operations
        for name in catalogue.SERIES_BY_TABLE:
            sums = [np.sum(getattr(one, name).values, axis=0) for one in (before, after)]
            assert sums[0] == pytest.approx(sums[1])


@pytest.mark.parametrize(
    ("series", "whole", "touched"),
    [
        (4500, {"cells", "links", "peers", "durations"}, {"channels"}),
        (2900, {"cells", "links", "durations"}, {"channels", "peers"}),
        (2000, {"cells", "durations"}, {"channels", "peers", "links"}),
        (1000, {"durations"}, {"channels", "peers", "links", "cells"}),
    ],
)
def test_order_of_folding(
    full_file: Any, scrape: Callable[..., Any], series: int, whole: set[str], touched: set[str]
) -> None:
    everything, found = tables(scrape(10**6)()), scrape(series)()
    assert used(found) <= series
    for name in catalogue.SERIES_BY_TABLE:
        kept = {key for key in tables(found) if key[1] == name}
        all_keys = {key for key in everything if key[1] == name}
        assert (kept == all_keys) == (name in whole)
        assert any("other" in key[2] for key in kept) == (name in touched)


def test_rarest_cells_fold_by_algorithm_and_protocol(mapped_file: Any, scrape: Callable[..., Any]) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=100)
    for index, operations in enumerate([9, 1, 7, 2, 8]):
        mapped_file.cell(row, index, power=index, operations=operations)
    full = used(scrape(10**6)())
    look = scrape(full - 3)
    assert {key[1]: values[0] for key, values in cells(look()).items()} == {"1": 9, "4": 7, "16": 8, "other": 3}
    assert look.reader.folded == 6


def test_folding_is_not_done_for_nothing(mapped_file: Any, scrape: Callable[..., Any]) -> None:
    """One series cannot fold: it would only have another name."""
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=1)
    mapped_file.cell(row, operations=1)
    look = scrape(0)
    assert [key[1] for key in cells(look())] == ["1048576"]
    assert look.reader.folded == 0


@pytest.fixture
def two_folded(mapped_file: Any, scrape: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """A communicator with four cells of which the two rarest are folded, how to look, and its reader."""
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=100)
    for index, operations in enumerate([40, 30, 2, 1]):
        mapped_file.cell(row, index, power=index, operations=operations)
    look = scrape(used(scrape(10**6)()) - 3)
    look()
    return mapped_file, row, look


def by_size(look: Any) -> dict[str, float]:
    return {key[1]: values[0] for key, values in cells(look()).items()}


def test_folded_stays_folded_and_kept_stays_kept(two_folded: tuple[Any, Any, Any]) -> None:
    file, row, look = two_folded
    assert by_size(look) == {"1": 40, "2": 30, "other": 3}
    file.cell(row, 2, power=2, operations=1000)  # the most of all by now
    assert by_size(look) == {"1": 40, "2": 30, "other": 1001}
    assert look.reader.folded == 6  # each series once, not once a scrape


def test_newcomer_folds_before_what_has_been_published(two_folded: tuple[Any, Any, Any]) -> None:
    file, row, look = two_folded
    file.cell(row, 4, power=9, operations=500)
    assert by_size(look) == {"1": 40, "2": 30, "other": 503}


def test_published_series_that_has_to_go_takes_nothing_along(mapped_file: Any, scrape: Callable[..., Any]) -> None:
    """Channels fold for cells; what they were published with is not published again as `other`."""
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=100)
    row["channels"]["operations"][:4, 0] = [10, 20, 30, 40]
    look = scrape(used(scrape(10**6)()) + catalogue.SERIES_BY_TABLE["durations"] + 1)
    assert [values[0] for values in look()[0].channels.values] == [10, 20, 30, 40]
    row["channels"]["operations"][:4, 0] = [11, 22, 33, 44]
    mapped_file.cell(row, operations=1)
    assert {key: values[0] for key, values in look()[0].channels.by_key().items()} == {
        ("3", "p2p"): 44,
        ("other", "p2p"): 1 + 2 + 3,
    }


def test_new_row_of_a_folded_series_counts_where_that_went(mapped_file: Any, scrape: Callable[..., Any]) -> None:
    row = mapped_file.communicator()
    for index in range(3):
        mapped_file.operation(row, index, f"Collective{index}", launched=1)
        mapped_file.cell(row, index, f"Collective{index}", operations=1)
    look = scrape(0)
    assert look()[0].durations.keys == (("other",),)
    before = look.reader.folded
    mapped_file.cell(row, 3, "Collective0", 5, operations=7)
    (found,) = look()
    assert {key: values[0] for key, values in found.durations.by_key().items()} == {("other",): 10}
    assert {row.operations for row in found.operations} == {8, 1}
    assert look.reader.folded == before + 2 * catalogue.SERIES_BY_TABLE["cells"]


def test_slot_that_is_used_again_forgets(two_folded: tuple[Any, Any, Any]) -> None:
    file, row, look = two_folded
    row["cells"] = np.zeros_like(row["cells"])
    file.communicator(comm=0xDEF)
    file.cell(row, power=2, operations=1)
    assert by_size(look) == {"4": 1}


def test_names_of_rows_in_the_plugins_own_others_stay(mapped_file: Any, scrape: Callable[..., Any]) -> None:
    """The plugin folds as well when its tables are full: both are one series."""
    row = mapped_file.communicator()
    mapped_file.cell(row, 63, power=layout.SIZE_OTHER, operations=5)
    mapped_file.cell(row, 0, power=1, operations=1)
    assert by_size(scrape(0)) == {"other": 6}


@st.composite
def histories(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    """Scrapes, before each of which some rows of each table count on: (row, operations)."""
    step = st.lists(st.tuples(st.integers(0, 15), st.integers(1, 1000)), max_size=8)
    return draw(st.lists(step, min_size=1, max_size=8))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), series=st.integers(20, 200))
def test_no_series_ever_falls_and_no_sum_jumps(
    mapped_file: Any, scrape: Callable[..., Any], history: list[list[tuple[int, int]]], series: int
) -> None:
    mapped_file.data["communicators"][0][0] = np.zeros_like(mapped_file.data["communicators"][0][0])
    row = mapped_file.communicator(nranks=16)
    mapped_file.operation(row, launched=1)
    look = scrape(series)
    totals = {"cells": 0.0, "peers": 0.0, "links": 0.0}
    counts = np.zeros(16)
    before: Tables = {}
    increases = dict.fromkeys(totals, 0.0)
    for step in history:
        for index, operations in step:
            counts[index] += operations
            mapped_file.cell(row, index, power=index, operations=int(counts[index]))
            mapped_file.peer(row, index, peer=index, operations=int(counts[index]))
            mapped_file.link(row, index, peer=index, operations=int(counts[index]))
        now = tables(look())
        for key, values in now.items():
            for value, old in zip(values, before.get(key, (0.0,) * len(values)), strict=True):
                assert value >= old, key
        # What a query over time sees grow, whatever the names, is what has been counted, but for what a series that
        # ends counted between its last scrape and its end, which `other` has.
        for name in totals:
            increases[name] += sum(
                values[0] - before.get(key, (0.0,))[0] for key, values in now.items() if key[1] == name
            )
            assert increases[name] == pytest.approx(counts.sum())
        before = now


def test_memory_does_not_grow_with_communicators_that_come_and_go(
    mapped_file: Any, descriptor: int, clock: Any
) -> None:
    reader = Reader(clock, 100)

    sizes: list[int] = []
    for born in range(10_000):
        slot = born % layout.COMMUNICATORS
        row = mapped_file.data["communicators"][0][slot]
        row["cells"] = row["peers"] = np.zeros((), np.uint8)
        mapped_file.communicator(slot, comm=born + 1)
        mapped_file.operation(row, launched=born)
        for index in range(3):
            mapped_file.cell(row, index, power=(born + index) % 40, operations=5)
            mapped_file.peer(row, index, peer=index % 2, power=(born + index) % 40, operations=5)
        if slot == layout.COMMUNICATORS - 1:
            assert len(reader.communicators(descriptor)) == layout.COMMUNICATORS
            if born // layout.COMMUNICATORS % 10 == 1:
                sizes.append(_size_of(reader))
    assert len(sizes) == 16
    assert max(sizes) < 1.05 * sizes[0]


def _size_of(thing: Any) -> int:
    """How many objects can be reached from it, and how much its arrays hold."""
    seen: set[int] = set()

    def walk(one: Any) -> Iterator[int]:
        if id(one) in seen or isinstance(one, type):
            return
        seen.add(id(one))
        yield 1
        if isinstance(one, np.ndarray):
            yield one.nbytes
        elif isinstance(one, dict):
            for key, value in one.items():
                yield from walk(key)
                yield from walk(value)
        elif isinstance(one, list | tuple | set | frozenset):
            for value in one:
                yield from walk(value)
        elif type(one).__module__.startswith("nccl_exporter"):
            slots = getattr(type(one), "__slots__", ())
            yield from walk([getattr(one, name) for name in slots] or vars(one))

    return sum(walk(thing))
