import math
import os
from collections import Counter
from typing import Any

import pytest
from nccl_exporter import identity, layout
from nccl_exporter.communicator import Tenant
from nccl_exporter.layout import OperationKind, SlotState
from nccl_exporter.model import Communicator, Operation
from nccl_exporter.names import Names
from nccl_exporter.snapshot import Snapshots

NOW = 1_000_000_000_000
NONE_REFUSED = (0,) * len(layout.REFUSED)


class Watch:
    """Looks at a file's first communicator again and again, as a reader does."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.snapshots, self.names = Snapshots(), Names()
        self.rejected: Counter[str] = Counter()
        self.tenant: Tenant | None = None

    def __call__(self) -> Communicator:
        self.snapshots.begin()
        look = self.snapshots.take(self.descriptor, 0)
        assert look is not None
        who = identity.identify(look.block.head[0])
        assert who is not None
        self.tenant = self.tenant or Tenant(look.block.generation, who)
        self.names.begin()
        name_of = lambda index: self.names.get(self.descriptor, index)  # noqa: E731
        self.tenant.update(look, who, name_of, self.rejected, since_ns=0, now_ns=NOW)
        return self.tenant.communicator(NOW)


@pytest.fixture
def watch(descriptor: int) -> Watch:
    return Watch(descriptor)


def test_good_communicator(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator(comm=2**64 - 1, rank=3, nranks=8, name="dp")
    row["callbacks"], row["callbacks_timed"], row["callback_ns"], row["gpu"] = 991, 10, 5000, 4
    mapped_file.set_text(row, "gpu_uuid", "GPU-1")
    mapped_file.operation(row, launched=10, skipped=9, untimed=2, negative=3, dropped_cell=1, dropped_contention=2)
    mapped_file.cell(row, operations=4, duration_ns=4000, log_microseconds=1.5, bytes=64)
    for place in range(2):
        mapped_file.fly(row, place, NOW - place * 10**9, number=9 + place)
    found = watch()
    assert (found.id, found.rank, found.nranks, found.nnodes, found.name) == (2**64 - 1, 3, 8, 1, "dp")
    assert (found.gpu, found.gpu_uuid) == (4, "GPU-1")
    assert found.callbacks == 1000
    assert found.callback_ns == 500_000  # 5000 ns in 10 timed calls, 1000 calls
    assert found.inflight_ns == pytest.approx(10**9, abs=2**layout.FLIGHT_TIME_UNIT)
    (operation,) = found.operations
    assert operation == Operation(
        name="AllReduce",
        kind=OperationKind.COLLECTIVE,
        started=10 + 1 + 9 + 2 + 1,  # one was launched and not counted yet
        operations=4,
        duration_ns=4000,
        bytes=64,
        buckets=(4, *[0] * 11),
        skipped=9,
        refused=(3, 0, 0, 0, 0, 2),
        dropped=(0, 0, 0, 1, 0, 2),
        in_flight=2,
        is_measured=True,
    )
    assert operation.started == 4 + 9 + sum(operation.refused) + sum(operation.dropped) + 2
    assert found.cells.by_key() == {("AllReduce", "1048576", "RING", "LL128"): (4, 4000, 1.5)}
    assert found.durations.by_key() == {("AllReduce",): (4, 4000, 4, *[0] * 11)}
    assert found.is_still
    assert not watch.rejected


def test_point_to_point(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator(nranks=4)
    mapped_file.operation(row, 0, "Send", kind=OperationKind.POINT_TO_POINT, launched=5, skipped=2)
    mapped_file.peer(row, 0, "Send", 3, 10, operations=4, duration_ns=40, bytes=4096)
    mapped_file.peer(row, 127, "Send", -1, -2, operations=1, duration_ns=5, bytes=8)
    found = watch()
    assert found.peers.by_key() == {("Send", "3", "1024"): (4, 40, 4096), ("Send", "other", "other"): (1, 5, 8)}
    (operation,) = found.operations
    assert (operation.started, operation.operations, operation.duration_ns, operation.bytes) == (7, 5, 45, 4104)


def test_copy_engine_counts_under_the_same_name(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, 0, "AllGather", launched=5)
    mapped_file.operation(row, 1, "AllGather", kind=OperationKind.COPY_ENGINE, untimed=3)
    (operation,) = watch().operations
    assert (operation.name, operation.started, operation.refused) == ("AllGather", 8, (0, 0, 0, 0, 0, 3))


def test_network_and_channels(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator(nranks=4)
    mapped_file.link(row, 0, 3, 0, operations=2, bytes=8, steps=[1, 2, 3], duration_ns=[4, 5, 6])
    mapped_file.link(row, 59, -1, 1, operations=1)
    row["channels"][7]["operations"], row["channels"][7]["duration_ns"] = [0, 5], [0, 50]
    found = watch()
    assert found.links.by_key() == {
        ("3", "send"): (2, 8, 1, 2, 3, 4, 5, 6),
        ("other", "recv"): (1, 0, 0, 0, 0, 0, 0, 0),
    }
    assert found.channels.by_key() == {("7", "net"): (5, 50)}


def test_counts_never_fall(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 100, 1, 1000
    operation = mapped_file.operation(row, launched=10, skipped=5, negative=2)
    cell = mapped_file.cell(row, operations=4, duration_ns=4000, log_microseconds=1.5)
    row["channels"][0]["operations"] = 5
    before = watch()
    row["callbacks"], row["callback_ns"], operation["launched"] = 1, 1, 1
    row["channels"][0]["operations"] = 1
    mapped_file.count(operation, negative=0)
    mapped_file.count(cell, operations=1, duration_ns=1, log_microseconds=0.5, buckets=[1, *[0] * 11])
    assert watch() == before


def test_started_does_not_fall_with_a_flight_word_that_vanishes(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, launched=10)
    mapped_file.fly(row, 0, NOW, number=10)
    assert watch().started == 11
    row["in_flight"][0] = 0  # and `launched` has not counted it
    assert watch().started == 11


def test_row_newer_than_the_flight_words_does_not_start_them_again(
    mapped_file: Any, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row copied again may be far past the flight words, whose numbers have 16 bits."""
    row = mapped_file.communicator()
    operation = mapped_file.operation(row, launched=1000)
    mapped_file.fly(row, 0, NOW, number=999)
    real, reads, last_copy = os.preadv, 0, 8 * 3 - 1

    def busy(*arguments: Any) -> int:
        nonlocal reads
        if reads <= last_copy:
            operation["launched"] += 65_000 if reads == last_copy else 0
            mapped_file.count(operation, negative=reads)
        reads += 1
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(os, "preadv", busy)
        found = watch()
    assert not found.is_still
    assert found.operations[0].started == 66_000
    mapped_file.fly(row, 0, NOW, number=66_000)
    assert watch().operations[0].started == 66_001


def test_row_that_becomes_another_keeps_what_it_was(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    cell = mapped_file.cell(row, operations=4)
    before = watch()
    cell["size_log2"] = 3
    mapped_file.count(cell, operations=9, buckets=[9, *[0] * 11])
    assert watch() == before
    cell["state"] = SlotState.FREE
    assert watch() == before
    assert watch.rejected == {"identity": 2}


def test_name_that_becomes_another_keeps_what_it_was(mapped_file: Any, watch: Watch) -> None:
    mapped_file.operation(mapped_file.communicator(), launched=1)
    before = watch()
    mapped_file.set_text(mapped_file.data["names"][0][0], "text", "Other")
    assert watch() == before


def test_callback_time_never_falls(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 1000, 1, 1000
    assert watch().callback_ns == 1_000_000
    row["callbacks_timed"], row["callback_ns"] = 10, 1500
    assert watch().callback_ns == 1_000_000


def test_without_a_timed_callback_there_is_no_time(mapped_file: Any, watch: Watch) -> None:
    mapped_file.communicator()["callbacks"] = 100
    assert watch().callback_ns == 0


@pytest.mark.parametrize(("power", "size"), [(0, "1"), (10, "1024"), (63, str(2**63)), (-1, "0"), (-2, "other")])
def test_size(mapped_file: Any, watch: Watch, power: int, size: str) -> None:
    mapped_file.cell(mapped_file.communicator(), power=power, operations=1)
    assert [key[1] for key in watch().cells.keys] == [size]


@pytest.mark.parametrize(
    ("reason", "spoiled"),
    [
        ("size", {"power": 64}),
        ("size", {"power": -3}),
        ("size", {"power": -32768}),
        ("log_sum", {"log_microseconds": math.nan}),
        ("log_sum", {"log_microseconds": math.inf}),
        ("log_sum", {"log_microseconds": 1e9}),
        ("count", {"log_microseconds": -1.0}),
        ("count", {"duration_ns": 2**63}),
        ("count", {"bytes": 2**64 - 1}),
        ("count", {"buckets": [2, *[0] * 11]}),
    ],
)
def test_bad_cell_costs_that_cell(mapped_file: Any, watch: Watch, reason: str, spoiled: dict[str, Any]) -> None:
    row = mapped_file.communicator()
    mapped_file.cell(row, 0, power=3, operations=1)
    mapped_file.cell(row, 1, **{"operations": 1, **spoiled})
    assert [key[1] for key in watch().cells.keys] == ["8"]
    assert watch.rejected == {reason: 1}


@pytest.mark.parametrize("field", ["operation", "algorithm", "protocol"])
@pytest.mark.parametrize("index", [63, 64, 65535])
def test_cell_of_a_name_that_is_not_there(mapped_file: Any, watch: Watch, field: str, index: int) -> None:
    mapped_file.cell(mapped_file.communicator(), operations=1)[field] = index
    assert not watch().cells.keys
    assert watch.rejected == {"name": 1}


@pytest.mark.parametrize(
    ("reason", "field", "value"), [("name", "name", 63), ("kind", "kind", 3), ("kind", "kind", 255)]
)
def test_bad_operation_costs_that_operation(
    mapped_file: Any, watch: Watch, reason: str, field: str, value: int
) -> None:
    row = mapped_file.communicator()
    mapped_file.operation(row, 0, launched=1)
    mapped_file.operation(row, 1, "Other", launched=1)[field] = value
    assert [operation.name for operation in watch().operations] == ["AllReduce"]
    assert watch.rejected == {reason: 1}


@pytest.mark.parametrize("rank", [4, -2, 2**31 - 1, -(2**31)])
def test_peer_that_cannot_be(mapped_file: Any, watch: Watch, rank: int) -> None:
    row = mapped_file.communicator(nranks=4)
    mapped_file.peer(row, peer=rank, operations=1)
    mapped_file.link(row, peer=rank, operations=1)
    found = watch()
    assert not found.peers.keys
    assert not found.links.keys
    assert watch.rejected == {"peer": 2}


def test_direction_that_cannot_be(mapped_file: Any, watch: Watch) -> None:
    mapped_file.link(mapped_file.communicator(), direction=2, operations=1)
    assert not watch().links.keys
    assert watch.rejected == {"direction": 1}


def test_words_that_cannot_be_stay_what_they_were(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    row["callbacks"] = 10
    operation = mapped_file.operation(row, launched=5, skipped=2)
    row["channels"][1]["operations"] = 7
    before = watch()
    row["callbacks"] = operation["launched"] = row["channels"][1]["operations"] = 2**63
    assert watch() == before
    assert watch.rejected == {"count": 4}  # a channel has a word for each transport


def test_rows_of_one_series_are_added(mapped_file: Any, watch: Watch) -> None:
    row = mapped_file.communicator()
    for index in (0, 5):
        mapped_file.cell(row, index, operations=2, duration_ns=10, log_microseconds=0.5)
        mapped_file.operation(row, index, launched=3)
    found = watch()
    assert found.cells.by_key() == {("AllReduce", "1048576", "RING", "LL128"): (4, 20, 1.0)}
    assert [(row.started, row.operations) for row in found.operations] == [(6, 4)]


@pytest.mark.parametrize("state", [SlotState.FREE, SlotState.CLAIMED, 77])
def test_rows_that_are_not_open_are_not_there(mapped_file: Any, watch: Watch, state: int) -> None:
    row = mapped_file.communicator()
    ended = mapped_file.fly(row, 0, NOW)
    for made in (
        mapped_file.cell(row, operations=1),
        mapped_file.peer(row, operations=1),
        mapped_file.link(row, operations=1),
    ):
        made["state"], made["commit"] = state, ended
    mapped_file.operation(row, launched=1)
    found = watch()
    assert (found.cells.keys, found.peers.keys, found.links.keys, watch.rejected) == ((), (), (), {})
    assert found.operations[0].in_flight == 1  # no row that is there has named it


@pytest.mark.parametrize(
    ("rank", "nranks", "nnodes", "gpu"),
    [(-1, 2, 1, 0), (2, 2, 1, 0), (0, -3, 0, 0), (0, 2, 3, 0), (0, 2, -1, 0), (0, 2, 1, -2), (0, 2, 1, 4096)],
)
def test_identity_that_cannot_be(mapped_file: Any, rank: int, nranks: int, nnodes: int, gpu: int) -> None:
    row = mapped_file.communicator(rank=rank, nranks=nranks)
    row["nnodes"], row["gpu"] = nnodes, gpu
    assert identity.identify(row) is None


@pytest.mark.parametrize("field", ["name", "gpu_uuid"])
def test_identity_that_is_no_text(mapped_file: Any, field: str) -> None:
    row = mapped_file.communicator()
    mapped_file.set_text(row, field, b"\xff\xff")
    assert identity.identify(row) is None


def test_size_of_a_communicator_that_the_interface_does_not_say(mapped_file: Any) -> None:
    who = identity.identify(mapped_file.communicator(rank=5, nranks=0))
    assert who is not None
    assert (who.rank, who.nranks) == (5, 0)
