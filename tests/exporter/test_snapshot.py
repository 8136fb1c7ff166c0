import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nccl_exporter import layout, table
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import SlotState
from nccl_exporter.snapshot import Look, Snapshots

CELLS = table.TABLES.index(table.CELLS)
COPY_READS = 3


@pytest.fixture
def snapshots() -> Snapshots:
    made = Snapshots()
    made.begin()
    return made


def taken(snapshots: Snapshots, descriptor: int, slot: int = 0) -> Look:
    look = snapshots.take(descriptor, slot)
    assert look is not None
    return look


@pytest.fixture
def before_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Has something happen before each read; it is told how many there were."""
    real, reads = os.preadv, 0

    def plant(happen: Callable[[int], None]) -> None:
        def counted(*arguments: Any) -> int:
            nonlocal reads
            happen(reads)
            reads += 1
            return real(*arguments)

        monkeypatch.setattr(os, "preadv", counted)

    return plant


def test_rows_that_nobody_writes(mapped_file: Any, descriptor: int, snapshots: Snapshots) -> None:
    row = mapped_file.communicator(3, rank=1)
    mapped_file.cell(row, 7, operations=5)
    look = taken(snapshots, descriptor, 3)
    assert look.is_still
    assert look.block.head["rank"][0] == 1
    assert np.flatnonzero(look.open[CELLS]).tolist() == [7]
    assert look.whole[CELLS].all()
    assert look.block.tables[CELLS].counts(np.array([7]))[0, 0] == 5


@pytest.mark.parametrize("commits", [1, 2])
def test_true_copy_is_told_by_the_commit(mapped_file: Any, descriptor: int, snapshots: Snapshots, commits: int) -> None:
    row = mapped_file.communicator()
    for number in range(commits):
        cell = mapped_file.cell(row, operations=10 + number)
    cell["counts"][(commits + 1) % 2]["operations"] = 99  # what a writer fills while it is killed
    look = taken(snapshots, descriptor)
    assert look.block.tables[CELLS].counts(np.array([0]))[0, 0] == 10 + commits - 1


def test_operation_that_ended_meanwhile_has_everything_copied_again(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    row = mapped_file.communicator()
    cell = mapped_file.cell(row, operations=1)
    before_read(lambda read: mapped_file.count(cell, operations=2) if read == 1 else None)
    look = taken(snapshots, descriptor)
    assert look.is_still
    assert look.block.tables[CELLS].counts(np.array([0]))[0, 0] == 2
    assert snapshots.torn == 0


def test_row_that_never_rests_is_torn(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    row = mapped_file.communicator()
    busy, quiet = mapped_file.cell(row, 0, power=1, operations=1), mapped_file.cell(row, 1, operations=1)
    mapped_file.operation(row, launched=1)
    before_read(lambda read: mapped_file.count(busy, operations=read))
    look = taken(snapshots, descriptor)
    assert not look.is_still
    assert look.whole[CELLS][:2].tolist() == [False, True]
    assert snapshots.torn == 1
    assert quiet is not None


def test_row_that_rests_in_between_is_copied_alone(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    row = mapped_file.communicator()
    busy = mapped_file.cell(row, operations=1)
    operation = mapped_file.operation(row, launched=1)

    def happen(read: int) -> None:
        if read < 8 * COPY_READS:
            mapped_file.count(busy, operations=read + 2)
        operation["launched"] = read

    before_read(happen)
    look = taken(snapshots, descriptor)
    assert not look.is_still
    assert look.whole[CELLS].all()
    counted = look.block.tables[CELLS].counts(np.array([0]))[0, 0]
    assert counted == 8 * COPY_READS + 1
    assert look.words_later[0, 0] > counted  # read after the row: nothing ends that was not launched
    assert snapshots.torn == 0


def test_row_that_opens_meanwhile_is_for_the_next_look(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    row = mapped_file.communicator()
    before_read(lambda read: mapped_file.link(row, operations=1) if read == 1 else None)
    assert not any(opened.any() for opened in taken(snapshots, descriptor).open)


def test_slot_that_is_used_again_meanwhile_is_copied_again(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    mapped_file.communicator()
    before_read(lambda read: mapped_file.communicator(rank=1) if read == 2 else None)
    assert taken(snapshots, descriptor).block.head["rank"][0] == 1


@pytest.mark.parametrize("state", [SlotState.FREE, SlotState.CLAIMED, 77])
def test_slot_that_is_not_in_use(mapped_file: Any, descriptor: int, snapshots: Snapshots, state: int) -> None:
    mapped_file.communicator()["state"] = state
    assert snapshots.take(descriptor, 0) is None


def test_file_whose_rows_never_rest_costs_a_bounded_number_of_reads(
    mapped_file: Any, descriptor: int, snapshots: Snapshots, before_read: Callable[..., None]
) -> None:
    for slot in range(64):
        mapped_file.communicator(slot)["cells"]["state"] = SlotState.OPEN
    commits = mapped_file.data["communicators"]["cells"]["commit"]
    reads = 0

    def happen(read: int) -> None:
        nonlocal reads
        reads = read + 1
        commits[...] += np.uint64(1 << layout.COMMIT_SHIFT)

    before_read(happen)
    for slot in range(64):
        snapshots.take(descriptor, slot)
    assert snapshots.torn == 64 * 64
    assert reads < COPY_READS * (64 + 1024) + 64


def test_file_that_is_cut(mapped_file: Any, descriptor: int, snapshots: Snapshots) -> None:
    mapped_file.communicator(63)
    os.truncate(mapped_file.path, 20_000)
    with pytest.raises(SourceError, match="cut short"):
        snapshots.take(descriptor, 63)
