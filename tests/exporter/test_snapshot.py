import os
from typing import Any

import pytest
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import SlotState
from nccl_exporter.snapshot import Snapshots


def test_rows_that_nobody_writes(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator(3, rank=1)
    mapped_file.cell(row, 7, operations=5, sequence=4)
    record = Snapshots().take(descriptor, 3)
    assert record is not None
    assert record["rank"][0] == 1
    assert record["cells"][0][7]["operations"] == 5


def test_row_that_stays_torn_keeps_its_last_values(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator()
    cell = mapped_file.cell(row, operations=5)
    operation = mapped_file.operation(row, started=9, operations=5)
    snapshots = Snapshots()
    snapshots.begin()
    snapshots.take(descriptor, 0)
    cell["sequence"] = operation["sequence"] = 1
    cell["operations"] = operation["operations"] = 6
    operation["started"] = 10
    for scrape in (1, 2):
        snapshots.begin()
        record = snapshots.take(descriptor, 0)
        assert record is not None
        assert record["cells"][0][0]["operations"] == 5
        assert record["operations"][0][0]["operations"] == 5
        assert record["operations"][0][0]["started"] == 10  # a word of its own
        assert snapshots.torn == 2 * scrape
    cell["sequence"] = operation["sequence"] = 2
    record = snapshots.take(descriptor, 0)
    assert record is not None
    assert record["cells"][0][0]["operations"] == 6
    assert snapshots.torn == 4


def test_torn_row_that_was_never_whole_is_left_out(mapped_file: Any, descriptor: int) -> None:
    mapped_file.cell(mapped_file.communicator(), operations=5, sequence=3)
    snapshots = Snapshots()
    snapshots.begin()
    record = snapshots.take(descriptor, 0)
    assert record is not None
    assert record["cells"][0][0]["state"] == SlotState.FREE
    assert snapshots.torn == 1


def test_last_values_of_another_generation_are_not_used(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator()
    mapped_file.cell(row, operations=5)
    snapshots = Snapshots()
    snapshots.begin()
    snapshots.take(descriptor, 0)
    row["generation"] += 1
    row["cells"][0]["sequence"] = 1
    record = snapshots.take(descriptor, 0)
    assert record is not None
    assert record["cells"][0][0]["state"] == SlotState.FREE


@pytest.mark.parametrize("state", [SlotState.FREE, SlotState.CLAIMED])
def test_slot_that_is_not_in_use(mapped_file: Any, descriptor: int, state: int) -> None:
    mapped_file.communicator()["state"] = state
    assert Snapshots().take(descriptor, 0) is None


def test_file_whose_rows_are_all_torn_costs_a_bounded_number_of_reads(
    mapped_file: Any, descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slot in range(64):
        row = mapped_file.communicator(slot)
        row["cells"]["state"] = SlotState.OPEN
        row["cells"]["sequence"] = 1
    reads = 0
    real = os.preadv

    def counted(*arguments: Any) -> int:
        nonlocal reads
        reads += 1
        return real(*arguments)

    monkeypatch.setattr(os, "preadv", counted)
    snapshots = Snapshots()
    snapshots.begin()
    for slot in range(64):
        snapshots.take(descriptor, slot)
    assert snapshots.torn == 64 * 64
    assert reads < 3 * (64 + 1024) + 1


def test_file_that_is_cut(mapped_file: Any, descriptor: int) -> None:
    mapped_file.communicator(63)
    os.truncate(mapped_file.path, 20_000)
    with pytest.raises(SourceError, match="cut short"):
        Snapshots().take(descriptor, 63)
