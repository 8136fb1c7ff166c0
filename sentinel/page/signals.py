"""What was said of each communicator over time: its state, and how many verdicts held."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from sentinel.history.column import Column
from sentinel.history.record import Record
from sentinel.history.roster import Roster

__all__ = ["signals_document"]

_MOST_COMMUNICATORS: Final = 100  # those with most to say


def signals_document(record: Record, ticks: bool) -> dict[str, Any]:
    """As JSON values. Runs of equal state and findings are one entry: [from, until, state, findings], Unix seconds."""
    found = []
    for roster in record.communicators():
        kept = record.columns(roster.comm, ticks)
        if kept is not None and kept[1]:
            found.append((roster, kept[1]))
    found.sort(key=lambda each: (-_loud(each[1]), each[0].job_id, -each[0].nranks, each[0].comm_name, each[0].comm))
    return {
        "communicators": [_communicator(roster, columns) for roster, columns in found[:_MOST_COMMUNICATORS]],
        "communicators_left_out": max(0, len(found) - _MOST_COMMUNICATORS),
    }


def _loud(columns: Sequence[Column]) -> int:
    return sum(bool(column.findings) or column.state == "stalled" for column in columns)


def _communicator(roster: Roster, columns: Sequence[Column]) -> dict[str, Any]:
    runs: list[list[Any]] = []
    before = columns[0].time
    step = min((after.time - one.time for one, after in pairwise(columns)), default=0.0)
    for column in columns:
        follows = bool(runs) and column.time - before <= 2.5 * step
        if follows and runs[-1][2:] == [column.state, column.findings]:
            runs[-1][1] = column.time
        else:
            runs.append([before if follows else column.time - step, column.time, column.state, column.findings])
        before = column.time
    return {
        "comm": roster.comm,
        "comm_name": roster.comm_name,
        "job_id": roster.job_id,
        "nranks": roster.nranks,
        "runs": runs,
    }
