"""The communicators of one rank, from its `init` and `finalize` rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from sentinel.trace.field import FINALIZE, INIT
from sentinel.trace.rows import Rows

__all__ = ["Communicator", "read_communicators"]


@dataclass(frozen=True)
class Communicator:
    """A communicator as its process knows it; `index` is the process's own number for it.

    `init_tid` and `finalize_tid` are the recorded threads that opened and closed it; `closing` is its place in the
    order of closing.
    """

    index: int
    id: int
    rank: int
    nranks: int
    nnodes: int
    name: str | None
    init_tid: int
    finalize_tid: int
    closing: int


def read_communicators(rows: Rows, inits: Sequence[int], finalizes: Sequence[int]) -> tuple[Communicator, ...]:
    """Read them in order of `init`. TraceError for a bad field, a communicator opened twice or none at all.

    One that was never finalized is taken to be closed by the thread that opened it, after those that were.
    """
    columns = {field.name: rows.column(inits, field) for field in INIT}
    if not inits:
        rows.fail(0, "cannot use a trace", "no communicator is opened in it", "A trace begins with `init` rows")
    closed = {field.name: rows.column(finalizes, field) for field in FINALIZE}
    closers = dict(zip(closed["comm"], closed["tid"], strict=True))
    closing = [*dict.fromkeys(closed["comm"]), *(index for index in reversed(columns["comm"]) if index not in closers)]
    communicators: dict[int, Communicator] = {}
    for at, place in enumerate(inits):
        index, text = columns["comm"][at], columns["comm_id"][at]
        if index in communicators:
            rows.fail(place, "cannot use field `comm`", f"communicator {index} was opened before")
        try:
            number = int(text, 16)
        except ValueError:
            number = -1
        if not 0 <= number < 2**64:
            rows.fail(place, "cannot use field `comm_id`", f'it is "{text}"', "Allowed are up to 16 hex digits")
        tid = columns["tid"][at]
        communicators[index] = Communicator(
            index=index,
            id=number,
            rank=columns["rank"][at],
            nranks=columns["nranks"][at],
            nnodes=columns["nnodes"][at],
            name=columns["name"][at],
            init_tid=tid,
            finalize_tid=closers.get(index, tid),
            closing=closing.index(index),
        )
    return tuple(communicators.values())
