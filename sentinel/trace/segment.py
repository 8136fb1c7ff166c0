"""A range of steps of one rank, ready to be played over and over."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.trace.event import NONE, PERMANENT, EventKind, Events, EventType
from sentinel.trace.operation import API, OPERATIONS
from sentinel.trace.recording import Integers
from sentinel.trace.step_range import StepRange
from sentinel.trace.trace import RankTrace

__all__ = ["SEGMENT_CAPTURE", "Numbering", "Segment", "cut_capture", "cut_segment", "number_operations"]

SEGMENT_CAPTURE = ""  # the segment that is played once, before all others


@dataclass(frozen=True)
class Numbering:
    """What all segments of a rank share.

    `counters` (counters, 2): the (communicator, func) pairs that NCCL numbers Colls by; `counter` (n,): the counter of
    each event that starts a Coll, else -1; `permanent` (handles,): a place for each captured handle, else NONE.
    """

    counters: Integers
    counter: Integers
    permanent: Integers


@dataclass(frozen=True)
class Segment:
    """`events` lie thread after thread, each in order of time; `per_thread` (threads,) says how many each has.

    `per_counter` (counters,) Colls are started in one iteration, the first of them recorded as `first_sequence`.
    """

    events: Events
    slots: int
    per_thread: Integers
    per_counter: Integers
    first_sequence: Integers


def number_operations(rank: RankTrace) -> Numbering:
    """Find the counters and the handles of graph captures."""
    events = rank.recording.events
    colls = np.flatnonzero((events["type"] == EventType.Coll) & (events["kind"] == EventKind.start))
    pairs = np.stack([events["communicator"][colls], events["func"][colls]], axis=1).astype(np.int64)
    counters, which = np.unique(pairs, axis=0, return_inverse=True)
    counter = np.full(len(events), -1)
    counter[colls] = which.ravel()
    captured = rank.operations.captured
    permanent = np.where(captured, np.cumsum(captured) - 1, NONE)
    return Numbering(counters, counter, permanent)


def cut_capture(rank: RankTrace, numbering: Numbering) -> Segment:
    """The capture of CUDA graphs, without its timing: replays of any step refer to it."""
    chosen = np.flatnonzero(rank.operations.captured[rank.recording.events["slot"]])
    events = _renumber(rank, numbering, chosen, numbering.permanent)
    events["time_ns"] = 0
    return _arrange(rank, numbering, chosen, events, int(rank.operations.captured.sum()))


def cut_segment(rank: RankTrace, numbering: Numbering, steps: StepRange, start_ns: int, length_ns: int) -> Segment:
    """The events of some steps; times count from `start_ns`."""
    chosen = np.flatnonzero((rank.step >= steps.first) & (rank.step < steps.last))
    slots = np.full(len(rank.recording.starts), NONE)
    used = rank.recording.events["slot"][chosen[rank.recording.events["kind"][chosen] == EventKind.start]]
    slots[used] = np.arange(len(used))
    events = _renumber(rank, numbering, chosen, slots)
    events["time_ns"] -= start_ns
    _keep_order(events, rank.recording.thread[chosen], slots[used], length_ns)
    return _arrange(rank, numbering, chosen, events, len(used))


def _renumber(rank: RankTrace, numbering: Numbering, chosen: Integers, slots: Integers) -> Events:
    """Copy the chosen events and let them speak of the segment's own slots; a parent outside of it becomes NONE."""
    operations = rank.operations
    events = rank.recording.events[chosen]
    handle = events["slot"].astype(np.int64)
    places = np.where(numbering.permanent != NONE, numbering.permanent | PERMANENT, slots)
    places = np.append(places, NONE)  # what NONE, taken as -1, becomes
    for column, recorded in (
        ("slot", handle),
        ("parent", events["parent"].astype(np.int64)),
        ("group", operations.group[handle]),
        ("operation", operations.slot[handle]),
    ):
        events[column] = places[np.where(recorded == NONE, -1, recorded)]
    events["need"] = operations.need[handle]
    return events


def _keep_order(events: Events, thread: Integers, slots: Integers, length_ns: int) -> None:
    """Move events so that iterations can follow each other `length_ns` apart.

    Iterations overlap: kernels of one end while the next begins. But a thread that launches operations finishes one
    iteration before it begins the next, so there the head waits for the tail, and what hangs below waits with it. Then
    order of time is also an order of cause, across threads and iterations.
    """
    time = events["time_ns"].astype(np.int64)
    starts = np.empty(len(slots), np.int64)
    begun = np.flatnonzero(events["kind"] == EventKind.start)
    starts[slots] = begun
    own = starts[events["slot"]]
    inside = (events["parent"] != NONE) & (events["parent"] & PERMANENT == 0) & (events["kind"] == EventKind.start)
    above = np.where(inside, starts[np.where(inside, events["parent"], 0)], own)
    launching = np.isin(events["type"], [*OPERATIONS, *API, EventType.Group])
    threads = [np.flatnonzero(thread == place) for place in np.unique(thread)]
    for here in threads:
        calls = here[launching[here]]
        if calls.size:
            time[here] = np.maximum(time[here], time[calls[-1]] - length_ns)
    before = np.empty_like(time)
    while not np.array_equal(before, time):
        before = time.copy()
        time = np.maximum(time, np.maximum(time[own], time[above]))
        for here in threads:
            time[here] = np.maximum.accumulate(time[here])
    events["time_ns"] = time


def _arrange(rank: RankTrace, numbering: Numbering, chosen: Integers, events: Events, slots: int) -> Segment:
    """Sort by thread and number the Colls."""
    counter = numbering.counter[chosen]
    per_counter, first = np.zeros((2, len(numbering.counters)), np.int64)
    for place in range(len(numbering.counters)):
        colls = np.flatnonzero(counter == place)
        per_counter[place] = len(colls)
        if colls.size:
            first[place] = events["order"][colls[0]]
            events["order"][colls] = np.arange(len(colls))
            events["extra"][colls] = place
    thread = rank.recording.thread[chosen]
    per_thread: npt.NDArray[np.int64] = np.bincount(thread, minlength=len(rank.recording.threads)).astype(np.int64)
    return Segment(events[np.argsort(thread, kind="stable")], slots, per_thread, per_counter, first)
