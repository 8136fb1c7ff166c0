"""One rank's trace: its communicators, its threads and every callback, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sentinel.trace.communicator import Communicator, read_communicators
from sentinel.trace.event import EVENT, NONE, EventFlag, EventKind, Events, EventType
from sentinel.trace.field import COMMON, ROWS, Field, Switch, Text
from sentinel.trace.rows import Rows, read_rows
from sentinel.trace.string_table import StringTable

__all__ = ["Recording", "read_recording"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recording:
    """What one rank's profiler was told, in host-time order.

    `events` has shape (n,) and dtype EVENT: `time_ns` is CLOCK_MONOTONIC, `slot` the number of the handle by order of
    start (0, 1, …), `parent` the parent's slot or NONE, `order` of a Coll the recorded sequence number. `thread` (n,)
    indexes `threads`; `starts` (handles,) is the place in `events` at which each handle was started.
    """

    rank: int
    path: Path
    communicators: tuple[Communicator, ...]
    threads: tuple[int, ...]
    strings: StringTable
    events: Events
    thread: Integers
    starts: Integers


def read_recording(path: Path, rank: int) -> Recording:
    """Read and check one file. TraceError names file, line and field of what is wrong."""
    rows = read_rows(path)
    groups = _group(rows)
    strings = StringTable()
    communicators = read_communicators(rows, groups.pop(("init", "")), groups.pop(("finalize", "")))
    everything = range(len(rows.rows))
    time, tid = (np.array(rows.column(everything, field), np.int64) for field in COMMON)
    backwards = np.flatnonzero(np.diff(time) < 0)
    if backwards.size:
        rows.fail(int(backwards[0]) + 1, "cannot use field `t`", "it is before that of the line above")
    threads, thread = np.unique(tid, return_inverse=True)
    events = np.zeros(len(time), EVENT)
    identity, parent = np.zeros((2, len(time)), np.int64)
    kept = np.zeros(len(time), bool)
    for key, places in groups.items():
        kind, event_type, fields = ROWS[key]
        at = np.array(places)
        kept[at] = True
        events["kind"][at], events["type"][at] = kind, event_type
        for field in fields[len(COMMON) :]:
            values = rows.column(places, field)
            if field.name == "id":
                identity[at] = values
            elif field.name == "parent":
                parent[at] = [value or 0 for value in values]
            else:
                _store(events, at, field, values, strings)
    events["time_ns"] = time
    lines = np.flatnonzero(kept)
    events, identity, parent = events[lines], identity[lines], parent[lines]
    starts = _link(rows, lines, events, identity, parent)
    _check_communicators(rows, lines, events, communicators)
    return Recording(
        rank, path, communicators, tuple(threads.tolist()), strings, events, thread[lines].astype(np.int64), starts
    )


def _group(rows: Rows) -> dict[tuple[str, str], list[int]]:
    """The places of rows that have the same fields: by kind and event type."""
    groups: dict[tuple[str, str], list[int]] = {("init", ""): [], ("finalize", ""): []}
    for place, row in enumerate(rows.rows):
        kind, event_type = row.get("k"), row.get("type", "")
        try:
            groups[kind, event_type].append(place)  # type: ignore[index]
        except (KeyError, TypeError):
            key = (str(kind), "" if kind in ("init", "finalize") else str(event_type))
            if key not in ROWS and key not in groups:
                known = key[0] in {name for name, _ in ROWS}
                name, value = ("type", event_type) if known else ("k", kind)
                allowed = (
                    [event.name for event in EventType] if known else ["init", "start", "stop", "state", "finalize"]
                )
                rows.fail(place, f"cannot use field `{name}`", f"it is {value!r}", f"Allowed is {', '.join(allowed)}")
            groups.setdefault(key, []).append(place)
    return groups


def _store(events: Events, at: Integers, field: Field, values: Sequence[Any], strings: StringTable) -> None:
    if isinstance(field, Switch):
        events["flags"][at] |= np.array([field.flag if value else 0 for value in values], np.uint8)
    elif isinstance(field, Text):
        events[field.column][at] = strings.codes(values)
    elif field.column:
        events[field.column][at] = [value or 0 for value in values] if field.optional else values


def _link(rows: Rows, lines: Integers, events: Events, identity: Integers, parent: Integers) -> Integers:
    """Fill `slot` and `parent` from the recorded handle numbers; returns the places of the starts."""
    starts = np.flatnonzero(events["kind"] == EventKind.start)
    order = np.argsort(identity[starts], kind="stable")
    known = identity[starts][order]
    again = np.flatnonzero(np.diff(known) == 0)
    if again.size:
        place = starts[order[again[0] + 1]]
        rows.fail(int(lines[place]), "cannot use field `id`", f"handle {identity[place]} was started before")

    def slots(wanted: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1) if len(known) else np.zeros_like(wanted)
        return (order[at], known[at] == wanted) if len(known) else (at, np.zeros(len(wanted), bool))

    own, found = slots(identity)
    found[found] &= starts[own[found]] <= np.flatnonzero(found)
    if not found.all():
        place = int(np.argmin(found))
        rows.fail(int(lines[place]), "cannot use field `id`", f"handle {identity[place]} was never started before")
    if (different := np.flatnonzero(events["type"] != events["type"][starts[own]])).size:
        started = EventType(events["type"][starts[own[different[0]]]]).name
        rows.fail(int(lines[different[0]]), "cannot use field `type`", f"the handle was started as {started}")
    events["slot"] = own
    # A proxy operation may carry another process's parent, which means nothing here.
    foreign = (events["type"] == EventType.ProxyOp) & (events["flags"] & EventFlag.OWN_PROCESS == 0)
    children = np.flatnonzero((parent != 0) & ~foreign)
    above, found = slots(parent[children])
    found[found] &= starts[above[found]] < children[found]
    if not found.all():
        place = children[np.argmin(found)]
        rows.fail(
            int(lines[place]), "cannot use field `parent`", f"its parent {parent[place]} was never started before"
        )
    events["parent"] = NONE
    events["parent"][children] = above
    return starts


def _check_communicators(rows: Rows, lines: Integers, events: Events, communicators: Sequence[Communicator]) -> None:
    known = np.array([communicator.index for communicator in communicators])
    unknown = np.flatnonzero((events["kind"] == EventKind.start) & ~np.isin(events["communicator"], known))
    if unknown.size:
        value = events["communicator"][unknown[0]]
        rows.fail(int(lines[unknown[0]]), "cannot use field `comm`", f"there was no init of communicator {value}")
