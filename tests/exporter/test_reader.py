from typing import Any

import pytest
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


@pytest.mark.parametrize(
    ("launches", "age_ns"),
    [
        ({}, 0),
        ({0: 1000 * SECOND - 5}, 5),
        ({4: 999 * SECOND, 1023: 990 * SECOND}, 10 * SECOND),
        ({0: 1001 * SECOND}, 0),
        ({0: 2**64 - 1}, 0),
    ],
)
def test_oldest_operation_in_flight(
    mapped_file: Any, descriptor: int, reader: Reader, launches: dict[int, int], age_ns: int
) -> None:
    row = mapped_file.communicator()
    for place, launched in launches.items():
        row["in_flight"][place] = launched
    (found,) = reader.communicators(descriptor)
    assert found.inflight_ns == age_ns


def test_closed_communicator_is_seen_for_a_minute(
    mapped_file: Any, descriptor: int, reader: Reader, clock: Any
) -> None:
    row = mapped_file.communicator()
    row["state"], row["closed_monotonic_ns"] = SlotState.CLOSED, clock.ns
    row["in_flight"][0] = 1
    clock.ns += 60 * SECOND
    (found,) = reader.communicators(descriptor)
    assert found.inflight_ns == 0
    clock.ns += 1
    assert list(reader.communicators(descriptor)) == []


def test_callback_time_is_kept_until_the_slot_has_another_communicator(
    mapped_file: Any, descriptor: int, reader: Reader
) -> None:
    row = mapped_file.communicator()
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 1000, 1, 1000
    (found,) = reader.communicators(descriptor)
    assert found.callback_ns == 1_000_000
    row["callbacks_timed"], row["callback_ns"] = 10, 1500
    (found,) = reader.communicators(descriptor)
    assert found.callback_ns == 1_000_000
    mapped_file.communicator()
    (found,) = reader.communicators(descriptor)
    assert found.callback_ns == 150_000


def test_name_that_was_added_while_the_rows_were_read(
    mapped_file: Any, descriptor: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows first, names last: a row never shows a name that is not read yet."""
    row = mapped_file.communicator()
    take = reader._snapshots.take

    def write_a_row_just_before(descriptor: int, slot: int) -> Any:
        mapped_file.operation(row, 0, name="Brand.New", started=1)
        return take(descriptor, slot)

    monkeypatch.setattr(reader._snapshots, "take", write_a_row_just_before)
    (found,) = reader.communicators(descriptor)
    assert [operation.name for operation in found.operations] == ["Brand.New"]
    assert not reader.rejected
