import os
from typing import Any

import pytest
from nccl_exporter import layout
from nccl_exporter.layout import SlotState
from nccl_exporter.reader import Reader

SECOND = 1_000_000_000


@pytest.fixture
def reader(clock: Any) -> Reader:
    return Reader(clock)


def test_every_slot_in_use(mapped_file: Any, descriptor: int, reader: Reader) -> None:
    for slot in (0, 5, 63):
        mapped_file.communicator(slot, rank=slot, nranks=64)
    mapped_file.communicator(7)["state"] = SlotState.CLAIMED
    assert [found.rank for found in reader.communicators(descriptor)] == [0, 5, 63]


def test_age_of_the_oldest_operation_in_flight(mapped_file: Any, descriptor: int, reader: Reader, clock: Any) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=1)
    assert reader.communicators(descriptor)[0].inflight_ns == 0
    mapped_file.fly(row, 4, 999 * SECOND)
    mapped_file.fly(row, 1023, 990 * SECOND)
    assert reader.communicators(descriptor)[0].inflight_ns == pytest.approx(10 * SECOND, abs=2**layout.FLIGHT_TIME_UNIT)


def test_closed_communicator_is_seen_for_a_minute(
    mapped_file: Any, descriptor: int, reader: Reader, clock: Any
) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=1, dropped_name=2)
    row["state"], row["closed_monotonic_ns"] = SlotState.CLOSED, clock.ns
    mapped_file.fly(row, 0, clock.ns - SECOND)
    clock.ns += 60 * SECOND
    (found,) = reader.communicators(descriptor)
    assert found.inflight_ns == 0
    clock.ns += 1
    for _ in range(2):
        assert reader.communicators(descriptor) == []
        assert reader.dropped == (0, 0, 0, 0, 2, 0)  # it is still in the file


def test_communicator_closed_in_the_future_is_over(
    mapped_file: Any, descriptor: int, reader: Reader, clock: Any
) -> None:
    row = mapped_file.communicator()
    row["state"], row["closed_monotonic_ns"] = SlotState.CLOSED, clock.ns + 1
    assert reader.communicators(descriptor) == []


def test_slot_that_is_used_again_starts_over(mapped_file: Any, descriptor: int, reader: Reader) -> None:
    row = mapped_file.communicator()
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 1000, 1, 1000
    mapped_file.operation(row, launched=9)
    (found,) = reader.communicators(descriptor)
    assert (found.callback_ns, found.started) == (1_000_000, 9)
    row["callbacks_timed"], row["callback_ns"] = 10, 1500
    mapped_file.operation(row, launched=1)
    mapped_file.communicator()
    (found,) = reader.communicators(descriptor)
    assert (found.callback_ns, found.started) == (150_000, 1)


def test_communicator_that_cannot_be_is_left_out_and_counted(mapped_file: Any, descriptor: int, reader: Reader) -> None:
    mapped_file.communicator(0, rank=9, nranks=2)
    mapped_file.communicator(1)
    assert len(reader.communicators(descriptor)) == 1
    assert reader.rejected == {"communicator": 1}


def test_name_that_was_added_while_the_rows_were_read(
    mapped_file: Any, descriptor: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows first, names last: a row never shows a name that is not read yet."""
    row = mapped_file.communicator()
    mapped_file.operation(row, 1, launched=1)
    reader.communicators(descriptor)
    take = reader._snapshots.take

    def write_a_row_just_before(descriptor: int, slot: int) -> Any:
        mapped_file.operation(row, 0, name="Brand.New", launched=1)
        return take(descriptor, slot)

    monkeypatch.setattr(reader._snapshots, "take", write_a_row_just_before)
    (found,) = reader.communicators(descriptor)
    assert {operation.name for operation in found.operations} == {"AllReduce", "Brand.New"}
    assert not reader.rejected


def test_only_what_is_in_use_is_read(
    mapped_file: Any, descriptor: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    real = os.preadv

    def measured(descriptor: int, buffers: list[Any], offset: int) -> int:
        sizes.append(len(buffers[0]))
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", measured)
    reader.communicators(descriptor)
    idle = sum(sizes)
    assert idle <= 8 * layout.COMMUNICATORS
    sizes.clear()
    mapped_file.communicator()
    reader.communicators(descriptor)
    assert sum(sizes) <= idle + 3 * layout.COMMUNICATOR.itemsize
