import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from nccl_exporter import communicator, header, layout
from nccl_exporter.layout import SlotState
from nccl_exporter.model import Cell, Communicator


def decoded(
    file: Any, descriptor: int, slot: int = 0, least_callback_ns: float = 0.0
) -> tuple[Communicator | None, Counter[str]]:
    """What becomes of a slot, and what was left out of it."""
    record = np.asarray(file.data["communicators"][0][slot : slot + 1])
    rejected: Counter[str] = Counter()
    names = header.read_names(descriptor)
    found = communicator.decode(record, names, rejected, inflight_ns=7, least_callback_ns=least_callback_ns)
    return found, rejected


def test_good_communicator(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator(comm=2**64 - 1, rank=3, nranks=8, name="dp")
    row["refused"][:] = [1, 2, 3, 4, 5]
    row["skipped"], row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 9, 1000, 10, 5000
    mapped_file.operation(row, started=20, operations=4, duration_ns=4000, bytes=64, buckets=[4, *[0] * 11])
    mapped_file.cell(row, operations=4, duration_ns=4000, log_microseconds=1.5)
    found, rejected = decoded(mapped_file, descriptor)
    assert found is not None
    assert (found.id, found.rank, found.nranks, found.nnodes, found.name) == (2**64 - 1, 3, 8, 1, "dp")
    assert (found.refused, found.skipped, found.callbacks) == ((1, 2, 3, 4, 5), 9, 1000)
    assert found.callback_ns == 500_000  # 5000 ns in 10 timed calls, 1000 calls
    assert found.inflight_ns == 7
    assert [(row.name, row.started, row.operations) for row in found.operations] == [("AllReduce", 20, 4)]
    assert found.cells == (Cell("AllReduce", "1048576", "RING", "LL128", 4, 4000, 1.5),)
    assert not rejected


def test_callback_time_never_falls(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator()
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 100, 10, 1000
    found, _ = decoded(mapped_file, descriptor, least_callback_ns=12_000.0)
    assert found is not None
    assert found.callback_ns == 12_000


def test_without_a_timed_callback_there_is_no_time(mapped_file: Any, descriptor: int) -> None:
    mapped_file.communicator()["callbacks"] = 100
    found, _ = decoded(mapped_file, descriptor)
    assert found is not None
    assert found.callback_ns == 0


@pytest.mark.parametrize(
    ("rank", "nranks", "nnodes"), [(-1, 2, 1), (2, 2, 1), (0, 0, 0), (0, -3, 0), (0, 2, 3), (0, 2, -1)]
)
def test_rank_that_cannot_be(mapped_file: Any, descriptor: int, rank: int, nranks: int, nnodes: int) -> None:
    mapped_file.communicator(rank=rank, nranks=nranks)["nnodes"] = nnodes
    assert decoded(mapped_file, descriptor) == (None, {"communicator": 1})


def test_communicator_whose_name_is_no_text(mapped_file: Any, descriptor: int) -> None:
    mapped_file.set_text(mapped_file.communicator(), "name", b"\xff\xff")
    assert decoded(mapped_file, descriptor) == (None, {"communicator": 1})


@pytest.mark.parametrize(("power", "size"), [(0, "1"), (10, "1024"), (63, str(2**63)), (-1, "0"), (-2, "other")])
def test_size(mapped_file: Any, descriptor: int, power: int, size: str) -> None:
    mapped_file.cell(mapped_file.communicator(), power=power)
    found, _ = decoded(mapped_file, descriptor)
    assert found is not None
    assert [cell.size for cell in found.cells] == [size]


@pytest.mark.parametrize(
    ("reason", "spoiled"),
    [
        ("size", {"power": 64}),
        ("size", {"power": -3}),
        ("size", {"power": -32768}),
        ("log_sum", {"log_microseconds": math.nan}),
        ("log_sum", {"log_microseconds": math.inf}),
        ("log_sum", {"log_microseconds": -1.0}),
        ("name", {"operation": layout.NAMES}),
        ("name", {"algorithm": 65535}),
        ("name", {"protocol": 63}),
    ],
)
def test_bad_cell_costs_that_cell(mapped_file: Any, descriptor: int, reason: str, spoiled: dict[str, Any]) -> None:
    row = mapped_file.communicator()
    mapped_file.cell(row, 0, power=3)
    mapped_file.cell(row, 1, **spoiled)
    found, rejected = decoded(mapped_file, descriptor)
    assert found is not None
    assert [cell.size for cell in found.cells] == ["8"]
    assert rejected == {reason: 1}


@pytest.mark.parametrize("index", [63, 64, 2**32 - 1])
def test_bad_operation_costs_that_operation(mapped_file: Any, descriptor: int, index: int) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, 0, started=1)
    mapped_file.operation(row, 1)["name"] = index
    found, rejected = decoded(mapped_file, descriptor)
    assert found is not None
    assert [row.name for row in found.operations] == ["AllReduce"]
    assert rejected == {"name": 1}


def test_rows_of_one_series_are_added(mapped_file: Any, descriptor: int) -> None:
    row = mapped_file.communicator()
    for index in (0, 5):
        mapped_file.cell(row, index, operations=2, duration_ns=10, log_microseconds=0.5)
        mapped_file.operation(row, index, started=3, operations=2, bytes=8, duration_ns=10, buckets=[1] * 12)
    found, _ = decoded(mapped_file, descriptor)
    assert found is not None
    assert found.cells == (Cell("AllReduce", "1048576", "RING", "LL128", 4, 20, 1.0),)
    assert found.operations == (("AllReduce", 6, 4, 20, 16, (2,) * 12),)


@pytest.mark.parametrize("state", [SlotState.FREE, SlotState.CLAIMED, 77])
def test_rows_that_are_not_open_are_not_there(mapped_file: Any, descriptor: int, state: int) -> None:
    row = mapped_file.communicator()
    mapped_file.cell(row)["state"] = state
    mapped_file.operation(row)["state"] = state
    found, rejected = decoded(mapped_file, descriptor)
    assert found is not None
    assert (found.cells, found.operations, rejected) == ((), (), {})
