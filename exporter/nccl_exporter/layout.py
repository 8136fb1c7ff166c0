"""The mapped file's layout, version 2, as numpy types: the mirror of plugin/include/nccl_sentinel/layout.h.

Names, sizes and offsets are those of the C++ header; a test compares them field by field.
"""

from enum import IntEnum
from typing import Any, Final

import numpy as np

MAGIC: Final = b"NCCLSNTL"
VERSION: Final = 2
FILE_SUFFIX: Final = ".nccl-sentinel"

PAGE_BYTES: Final = 4096
NAMES: Final = 64
COMMUNICATORS: Final = 64
OPERATIONS: Final = 16
CELLS: Final = 64
OTHER_CELLS: Final = 16
PEERS: Final = 128
OTHER_PEERS: Final = 16
LINKS: Final = 60
OTHER_LINKS: Final = 2
CHANNELS: Final = 64
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
PEER_OTHER: Final = -1

# In the order of the enums Outcome, kSettled, Dropped, Direction and Transport.
OUTCOMES: Final = (
    "skipped",
    "negative",
    "zero",
    "incomplete",
    "overwritten",
    "graph",
    "untimed",
    "dropped_operation",
    "dropped_cell",
    "dropped_name",
    "dropped_contention",
)
SETTLED: Final = ("negative", "zero", "incomplete", "overwritten", "graph", "dropped_contention")
DROPPED: Final = ("communicator", "network", "operation", "cell", "name", "contention")
DIRECTIONS: Final = ("send", "receive")
TRANSPORTS: Final = ("p2p", "net")
# Those of the outcomes that say that an operation's times are not trusted.
REFUSED: Final = OUTCOMES[1:7]
STEP_STATES: Final = 3

COMMIT_SHIFT: Final = 24
COMMIT_NAMES: Final = 1 << 23
COMMIT_PLACE_SHIFT: Final = 13
COMMIT_GENERATION_SHIFT: Final = 3

FLIGHT_TIME_SHIFT: Final = 30
FLIGHT_TIME_UNIT: Final = 24
FLIGHT_OPERATION_SHIFT: Final = 26
FLIGHT_NUMBER_SHIFT: Final = 10
FLIGHT_NUMBER_MASK: Final = 65535
FLIGHT_GENERATION_MASK: Final = 1023


class FileState(IntEnum):
    """What the writer says of its file."""

    STARTING = 0
    LIVE = 1
    FINISHED = 2


class SlotState(IntEnum):
    """What the writer says of a name, a row or a communicator."""

    FREE = 0
    CLAIMED = 1
    OPEN = 2
    CLOSED = 3


class OperationKind(IntEnum):
    """What an operation is."""

    COLLECTIVE = 0
    POINT_TO_POINT = 1
    COPY_ENGINE = 2


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
        ("nccl_version", "<i4"),
        ("interface_version", "<u4"),
        ("events", "<u4"),
        ("sample_burst", "<u4"),
        ("sample_period", "<u4"),
        ("governor_level", "<u4"),
        ("budget_ppm", "<u4"),
        ("dropped", "<u8", (len(DROPPED),)),
        ("plugin_version", "V32"),
        ("hostname", "V64"),
        ("job_id", "V128"),
        ("padding", "V160"),
    ]
)

NAME: Final = np.dtype([("state", "<u4"), ("text", "V28")])

SETTLED_COUNTS: Final = np.dtype([("outcomes", "<u8", (len(SETTLED),)), ("reserved", "<u8", (8 - len(SETTLED),))])

OPERATION: Final = np.dtype(
    [
        ("state", "<u4"),
        ("name", "<u2"),
        ("kind", "u1"),
        ("reserved", "u1"),
        ("launched", "<u8"),
        ("left_out", "<u8", (12,)),
        ("commit", "<u8"),
        ("settled", SETTLED_COUNTS, (2,)),
        ("unused", "<u8"),
    ]
)

CELL_COUNTS: Final = np.dtype(
    [
        ("operations", "<u8"),
        ("duration_ns", "<u8"),
        ("log_microseconds", "<f8"),
        ("bytes", "<u8"),
        ("buckets", "<u8", (BUCKETS,)),
    ]
)

CELL: Final = np.dtype(
    [
        ("state", "<u4"),
        ("operation", "<u2"),
        ("algorithm", "<u2"),
        ("protocol", "<u2"),
        ("size_log2", "<i2"),
        ("reserved", "<u4"),
        ("commit", "<u8"),
        ("counts", CELL_COUNTS, (2,)),
        ("padding", "V40"),
    ]
)

PEER_COUNTS: Final = np.dtype([("operations", "<u8"), ("duration_ns", "<u8"), ("bytes", "<u8"), ("reserved", "<u8")])

PEER: Final = np.dtype(
    [
        ("state", "<u4"),
        ("operation", "<u2"),
        ("size_log2", "<i2"),
        ("peer", "<i4"),
        ("reserved", "<u4"),
        ("commit", "<u8"),
        ("counts", PEER_COUNTS, (2,)),
        ("unused", "<u8"),
    ]
)

LINK_COUNTS: Final = np.dtype(
    [
        ("steps", "<u8", (STEP_STATES,)),
        ("duration_ns", "<u8", (STEP_STATES,)),
        ("bytes", "<u8"),
        ("operations", "<u8"),
    ]
)

LINK: Final = np.dtype(
    [
        ("state", "<u4"),
        ("peer", "<i4"),
        ("direction", "<u4"),
        ("reserved", "<u4"),
        ("commit", "<u8"),
        ("counts", LINK_COUNTS, (2,)),
        ("unused", "<u8"),
    ]
)

CHANNEL: Final = np.dtype([("operations", "<u8", (len(TRANSPORTS),)), ("duration_ns", "<u8", (len(TRANSPORTS),))])

_HEAD: list[Any] = [
    ("state", "<u4"),
    ("generation", "<u4"),
    ("id", "<u8"),
    ("rank", "<i4"),
    ("nranks", "<i4"),
    ("nnodes", "<i4"),
    ("gpu", "<i4"),
    ("opened_unix_ns", "<i8"),
    ("closed_monotonic_ns", "<u8"),
    ("callbacks", "<u8"),
    ("callbacks_timed", "<u8"),
    ("callback_ns", "<u8"),
    ("gpu_uuid", "V48"),
    ("name", "V128"),
    ("padding", "V264"),
]

# A communicator's block without its tables.
HEAD: Final = np.dtype(_HEAD)
COMMUNICATOR: Final = np.dtype(
    [
        *_HEAD,
        ("operations", OPERATION, (OPERATIONS,)),
        ("cells", CELL, (CELLS,)),
        ("peers", PEER, (PEERS,)),
        ("links", LINK, (LINKS,)),
        ("channels", CHANNEL, (CHANNELS,)),
        ("in_flight", "<u8", (IN_FLIGHT,)),
        ("end", "V128"),
    ]
)

FILE: Final = np.dtype(
    [
        ("header", HEADER),
        ("names", NAME, (NAMES,)),
        ("padding", f"V{PAGE_BYTES - HEADER.itemsize - NAME.itemsize * NAMES}"),
        ("communicators", COMMUNICATOR, (COMMUNICATORS,)),
    ]
)

FILE_BYTES: Final = FILE.itemsize


def offset(record: "np.dtype[Any]", field: str) -> int:
    """Offset in bytes of a field in a record."""
    assert record.fields is not None  # noqa: S101
    return int(record.fields[field][1])


NAMES_OFFSET: Final = offset(FILE, "names")
_COMMUNICATORS_OFFSET: Final = offset(FILE, "communicators")


def communicator_offset(slot: int) -> int:
    """Offset in bytes of communicator `slot` in the file."""
    return _COMMUNICATORS_OFFSET + slot * COMMUNICATOR.itemsize
