"""One callback of a profiler plugin as a fixed-size record: the row of a recording and of a player script.

The records are what `plugin/player/script.h` calls Event; a test holds the two together.
"""

from enum import IntEnum, IntFlag

import numpy as np
import numpy.typing as npt

__all__ = ["EVENT", "NONE", "PERMANENT", "EventFlag", "EventKind", "EventType", "Events"]

NONE = 0xFFFF_FFFF  # no slot, no string
PERMANENT = 0x8000_0000  # a slot that lives as long as the run (a graph capture), not as long as an iteration

EVENT = np.dtype(
    [
        ("time_ns", "<i8"),  # host time; in a script, since the start of the segment
        ("value", "<u8"),  # count | chunk | pTimer | bytes | appended operations
        ("slot", "<u4"),  # place of the handle
        ("parent", "<u4"),
        ("group", "<u4"),  # slot of the Group around a Coll or P2p
        ("operation", "<u4"),  # slot of the Coll or P2p that this belongs to
        ("rank", "<i4"),
        ("number", "<i4"),  # root | peer | step | group depth | state
        ("extra", "<i4"),  # network steps | counter that numbers a Coll
        ("order", "<u4"),  # how many of the same counter come before it in the segment
        ("func", "<u2"),
        ("dtype", "<u2"),
        ("algo", "<u2"),
        ("proto", "<u2"),
        ("need", "<u2"),  # mask bits without which it is not emitted
        ("kind", "u1"),
        ("type", "u1"),
        ("communicator", "u1"),
        ("channels", "u1"),  # number of channels | channel
        ("warps", "u1"),
        ("flags", "u1"),
    ]
)
Events = npt.NDArray[np.void]


class EventKind(IntEnum):
    """Which function of the plugin is called."""

    start = 0
    stop = 1
    state = 2


class EventType(IntEnum):
    """NCCL's event types in the rows of a trace, by the position of their bit in the mask."""

    Group = 0
    Coll = 1
    P2p = 2
    ProxyOp = 3
    ProxyStep = 4
    ProxyCtrl = 5
    KernelCh = 6
    GroupApi = 8
    CollApi = 9
    P2pApi = 10
    KernelLaunch = 11

    @property
    def bit(self) -> int:
        """The type in a mask."""
        return 1 << self


class EventFlag(IntFlag):
    """Yes-or-no fields of an event."""

    GRAPH_CAPTURED = 1
    SEND = 2
    OWN_PROCESS = 4
