"""From a record of counters to a communicator, field by field: a row that cannot be true is left out and counted."""

import math
from collections import Counter
from typing import Any, Final

from nccl_exporter import layout, text
from nccl_exporter.model import Cell, Communicator, Operation
from nccl_exporter.record import Records

Names = tuple[str | None, ...]

SIZES: Final = {
    layout.SIZE_OTHER: "other",
    layout.SIZE_EMPTY: "0",
    **{power: str(1 << power) for power in range(64)},
}


def decode(
    record: Records, names: Names, rejected: Counter[str], *, inflight_ns: int, least_callback_ns: float
) -> Communicator | None:
    """The communicator in `record` (one of type COUNTERS), or None when its identity cannot be true.

    `rejected` is increased by reason (catalogue.ROW_REASONS). The estimate of callback time never falls below
    `least_callback_ns`, the one before: scaling by another sample must not look like a counter that was reset.
    """
    head: Any = record[0]
    rank, nranks, nnodes = int(head["rank"]), int(head["nranks"]), int(head["nnodes"])
    name = text.label(head["name"].tobytes())
    if name is None or not 0 <= rank < nranks or not 0 <= nnodes <= nranks:
        rejected["communicator"] += 1
        return None
    callbacks, timed = int(head["callbacks"]), int(head["callbacks_timed"])
    estimate = int(head["callback_ns"]) * callbacks / timed if timed else 0.0
    return Communicator(
        id=int(head["id"]),
        rank=rank,
        nranks=nranks,
        nnodes=nnodes,
        name=name,
        opened_unix_ns=int(head["opened_unix_ns"]),
        inflight_ns=inflight_ns,
        refused=tuple(head["refused"].tolist()),
        skipped=int(head["skipped"]),
        callbacks=callbacks,
        callback_ns=max(estimate, least_callback_ns),
        operations=_operations(head["operations"], names, rejected),
        cells=_cells(head["cells"], names, rejected),
    )


def _name(names: Names, index: int) -> str | None:
    return names[index] if index < len(names) else None


def _operations(rows: Records, names: Names, rejected: Counter[str]) -> tuple[Operation, ...]:
    rows = rows[rows["state"] == layout.OPEN]
    found: dict[str, Operation] = {}
    for index, started, operations, duration_ns, size, buckets in zip(
        *(rows[field].tolist() for field in ("name", "started", "operations", "duration_ns", "bytes", "buckets")),
        strict=True,
    ):
        name = _name(names, index)
        if name is None:
            rejected["name"] += 1
            continue
        row = Operation(name, started, operations, duration_ns, size, tuple(buckets))
        same = found.get(name)
        found[name] = row if same is None else _sum_of_operations(same, row)
    return tuple(found.values())


def _cells(rows: Records, names: Names, rejected: Counter[str]) -> tuple[Cell, ...]:
    rows = rows[rows["state"] == layout.OPEN]
    found: dict[tuple[str, str, str, str], Cell] = {}
    fields = ("operation", "algorithm", "protocol", "size_log2", "operations", "duration_ns", "log_microseconds")
    for operation, algorithm, protocol, power, operations, duration_ns, logs in zip(
        *(rows[field].tolist() for field in fields), strict=True
    ):
        op, algo, proto = _name(names, operation), _name(names, algorithm), _name(names, protocol)
        size = SIZES.get(power)
        if op is None or algo is None or proto is None:
            rejected["name"] += 1
        elif size is None:
            rejected["size"] += 1
        elif not (math.isfinite(logs) and logs >= 0):
            rejected["log_sum"] += 1
        else:
            key = (op, size, algo, proto)
            same = found.get(key)
            if same is not None:  # two rows of one cell: a series must be given once
                operations += same.operations
                duration_ns += same.duration_ns
                logs += same.log_microseconds
            found[key] = Cell(*key, operations, duration_ns, logs)
    return tuple(found.values())


def _sum_of_operations(one: Operation, other: Operation) -> Operation:
    return Operation(
        one.name,
        one.started + other.started,
        one.operations + other.operations,
        one.duration_ns + other.duration_ns,
        one.bytes + other.bytes,
        tuple(a + b for a, b in zip(one.buckets, other.buckets, strict=True)),
    )
