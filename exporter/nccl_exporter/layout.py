"""The mapped file's layout, version 1, as numpy types: the mirror of plugin/include/nccl_sentinel/layout.h.

Names, sizes and offsets are those of the C++ header; a test compares them field by field.
"""

from enum import IntEnum
from typing import Final

import numpy as np

MAGIC: Final = b"NCCLSNTL"
VERSION: Final = 1
FILE_SUFFIX: Final = ".nccl-sentinel"

NAMES: Final = 64
COMMUNICATORS: Final = 64
OPERATIONS: Final = 16
CELLS: Final = 64
IN_FLIGHT: Final = 1024
BUCKETS: Final = 12

# Upper bounds of the duration histogram in ns; the last bucket has none.
BUCKET_BOUNDS_NS: Final = (
    1_000,
    6_310,
    39_811,
    251_189,
    1_584_893,
    10_000_000,
    63_095_734,
    398_107_171,
    2_511_886_432,
    15_848_931_925,
    100_000_000_000,
)

SIZE_EMPTY: Final = -1
SIZE_OTHER: Final = -2

# In the order of the enums Refused and Dropped.
REFUSED: Final = ("negative", "zero", "incomplete", "overwritten", "graph")
DROPPED: Final = ("communicator", "operation", "cell", "name", "contention")


class FileState(IntEnum):
    """What the writer says of its file."""

    STARTING = 0
    LIVE = 1
    FINISHED = 2


class SlotState(IntEnum):
    """What the writer says of a name, an operation, a cell or a communicator."""

    FREE = 0
    CLAIMED = 1
    OPEN = 2
    CLOSED = 3


# As a plain number: numpy looks at an enum's member for long before it compares it.
OPEN: Final = SlotState.OPEN.value
CLOSED: Final = SlotState.CLOSED.value


HEADER: Final = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("file_bytes", "<u8"),
        ("state", "<u4"),
        ("pid", "<i4"),
        ("start_unix_ns", "<i8"),
        ("start_monotonic_ns", "<u8"),
        ("global_rank", "<i4"),
        ("gpu", "<i4"),
        ("nccl_version", "<i4"),
        ("interface_version", "<u4"),
        ("dropped", "<u8", (len(DROPPED),)),
        ("plugin_version", "V32"),
        ("hostname", "V64"),
        ("job_id", "V128"),
        ("gpu_uuid", "V48"),
        ("padding", "V136"),
    ]
)

NAME: Final = np.dtype([("state", "<u4"), ("text", "V28")])

OPERATION: Final = np.dtype(
    [
        ("state", "<u4"),
        ("name", "<u4"),
        ("sequence", "<u4"),
        ("reserved", "<u4"),
        ("started", "<u8"),
        ("operations", "<u8"),
        ("duration_ns", "<u8"),
        ("bytes", "<u8"),
        ("buckets", "<u8", (BUCKETS,)),
        ("padding", "V48"),
    ]
)

CELL: Final = np.dtype(
    [
        ("state", "<u4"),
        ("sequence", "<u4"),
        ("operation", "<u2"),
        ("algorithm", "<u2"),
        ("protocol", "<u2"),
        ("size_log2", "<i2"),
        ("operations", "<u8"),
        ("duration_ns", "<u8"),
        ("log_microseconds", "<f8"),
        ("padding", "V24"),
    ]
)

_COUNTERS = [
    ("state", "<u4"),
    ("generation", "<u4"),
    ("id", "<u8"),
    ("rank", "<i4"),
    ("nranks", "<i4"),
    ("nnodes", "<i4"),
    ("reserved", "<u4"),
    ("opened_unix_ns", "<i8"),
    ("closed_monotonic_ns", "<u8"),
    ("refused", "<u8", (len(REFUSED),)),
    ("skipped", "<u8"),
    ("callbacks", "<u8"),
    ("callbacks_timed", "<u8"),
    ("callback_ns", "<u8"),
    ("name", "V128"),
    ("padding", "V264"),
    ("operations", OPERATION, (OPERATIONS,)),
    ("cells", CELL, (CELLS,)),
]

# A communicator without its places in flight, which are read apart from the rest: no sequence guards them.
COUNTERS: Final = np.dtype(_COUNTERS)
COMMUNICATOR: Final = np.dtype([*_COUNTERS, ("in_flight", "<u8", (IN_FLIGHT,))])

FILE: Final = np.dtype(
    [
        ("header", HEADER),
        ("names", NAME, (NAMES,)),
        ("communicators", COMMUNICATOR, (COMMUNICATORS,)),
    ]
)

FILE_BYTES: Final = FILE.itemsize
NAMES_OFFSET: Final = HEADER.itemsize
COMMUNICATORS_OFFSET: Final = NAMES_OFFSET + NAME.itemsize * NAMES
IN_FLIGHT_OFFSET: Final = COUNTERS.itemsize
OPERATIONS_OFFSET: Final = 512
CELLS_OFFSET: Final = OPERATIONS_OFFSET + OPERATION.itemsize * OPERATIONS


def communicator_offset(slot: int) -> int:
    """Offset in bytes of communicator `slot` in the file."""
    return COMMUNICATORS_OFFSET + slot * COMMUNICATOR.itemsize
