"""Which operation (Coll or P2p) each callback of a recording belongs to."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sentinel.trace.event import NONE, EventFlag, EventKind, Events, EventType
from sentinel.trace.recording import Integers, Recording

__all__ = ["API", "OPERATIONS", "Operations", "find_operations"]

OPERATIONS: Final = (EventType.Coll, EventType.P2p)
API: Final = (EventType.GroupApi, EventType.CollApi, EventType.P2pApi)
_BELOW: Final = (EventType.KernelCh, EventType.ProxyOp, EventType.ProxyStep)


@dataclass(frozen=True)
class Operations:
    """The operations of one rank, numbered by the order of their start.

    `starts` (operations,) holds places in the recording's events. Per handle, shape (handles,): `number` of its
    operation, -1 where there is none; `slot` of that operation, for an operation and what happens inside it, else NONE;
    `group`, the Group that was open around an operation, else NONE; `need`, the mask bits without which NCCL does not
    emit it; `captured`, whether it is part of the capture of a CUDA graph. Such handles belong to no operation: the
    graph is captured once and replayed by many.
    """

    starts: Integers
    number: Integers
    slot: Integers
    group: Integers
    need: Integers
    captured: npt.NDArray[np.bool_]


def find_operations(recording: Recording) -> Operations:
    """Follow the parents: up from kernels and proxies, down to the API calls and groups around them."""
    handles = recording.events[recording.starts]
    kinds = handles["type"].astype(np.int64)
    parent = np.where(handles["parent"] == NONE, -1, handles["parent"].astype(np.int64))
    is_operation = np.isin(kinds, OPERATIONS)
    slots = np.flatnonzero(is_operation)
    number = np.full(len(handles), -1)
    number[slots] = np.arange(len(slots))
    slot = np.where(is_operation, np.arange(len(handles)), NONE)
    need = np.left_shift(1, kinds)
    need[np.isin(kinds, [*API, EventType.Group])] = 0
    captured = _find_captured(handles, parent)

    # A parent starts before its children, so one pass per generation is enough: Coll, ProxyOp, ProxyStep.
    for _ in range(2):
        below = np.flatnonzero((parent >= 0) & np.isin(kinds, _BELOW))
        number[below], slot[below] = number[parent[below]], slot[parent[below]]
        need[below] |= need[parent[below]]

    first = np.full(len(handles), len(slots))
    above = slots[(parent[slots] >= 0) & ~captured[parent[slots]]]
    np.minimum.at(first, parent[above], number[above])
    calls = np.flatnonzero((first < len(slots)) & (parent >= 0))
    np.minimum.at(first, parent[calls], first[calls])
    group = np.full(len(handles), NONE)
    group[slots] = _find_groups(recording, slots)
    grouped = slots[group[slots] != NONE]
    np.minimum.at(first, group[grouped], number[grouped])
    around = ~is_operation & (first < len(slots))
    number[around] = first[around]
    beside = np.flatnonzero((number < 0) & (parent >= 0) & ~captured)
    number[beside] = number[parent[beside]]  # a kernel launch in its group
    number[captured] = -1
    return Operations(recording.starts[slots], number, slot, group, need, captured)


def _find_captured(handles: Events, parent: Integers) -> npt.NDArray[np.bool_]:
    """API calls of a graph capture, the group around them and the launches in it: the whole tree when any of it is."""
    inside = np.isin(handles["type"], [*API, EventType.KernelLaunch])
    top = np.where(inside & (parent >= 0), parent, np.arange(len(handles)))
    marked = np.zeros(len(handles), bool)
    marked[top[inside & (handles["flags"] & EventFlag.GRAPH_CAPTURED != 0)]] = True
    return inside & marked[top]


def _find_groups(recording: Recording, slots: Integers) -> Integers:
    """For each operation the Group that its thread had open when it started, else NONE."""
    events = recording.events
    found = np.full(len(slots), NONE)
    stop = np.full(len(recording.starts), len(events))
    stopped = np.flatnonzero(events["kind"] == EventKind.stop)
    stop[events["slot"][stopped]] = stopped
    groups = np.flatnonzero(events["type"][recording.starts] == EventType.Group)
    at, places = recording.starts[slots], recording.starts[groups]
    for thread in range(len(recording.threads)):
        here = np.flatnonzero(recording.thread[at] == thread)
        candidates = groups[recording.thread[places] == thread]
        if not (here.size and candidates.size):
            continue
        last = np.searchsorted(recording.starts[candidates], at[here]) - 1
        open_group = candidates[np.maximum(last, 0)]
        inside = (last >= 0) & (stop[open_group] > at[here])
        found[here[inside]] = open_group[inside]
    return found
