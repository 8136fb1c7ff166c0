"""What was said of each communicator over time: its state, and how many verdicts held."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from sentinel.history.column import Said
from sentinel.history.past import Past
from sentinel.history.roster import Name
from sentinel.history.strip import BIN_SECONDS

__all__ = ["signals_document"]

_MOST_COMMUNICATORS: Final = 100  # those with most to say


def signals_document(past: Past, ticks: bool) -> dict[str, Any]:
    """As JSON values. Runs of equal state and findings are one entry: [from, until, state, findings], Unix seconds."""
    found = past.said(ticks, _MOST_COMMUNICATORS)
    return {
        "communicators": [_communicator(name, said, ticks) for name, said in found.communicators],
        "communicators_left_out": found.left_out,
        "fault": found.fault,
    }


def _communicator(name: Name, said: Sequence[Said], ticks: bool) -> dict[str, Any]:
    runs: list[list[Any]] = []
    before = said[0].time
    step = BIN_SECONDS  # the bin that goes on is shorter
    if ticks:
        step = min((after.time - one.time for one, after in pairwise(said)), default=0.0)
    for each in said:
        follows = bool(runs) and each.time - before <= 2.5 * step
        if follows and runs[-1][2:] == [each.state, each.findings]:
            runs[-1][1] = each.time
        else:
            runs.append([before if follows else each.time - step, each.time, each.state, each.findings])
        before = each.time
    return {"comm": name.comm, "comm_name": name.comm_name, "job_id": name.job_id, "nranks": name.nranks, "runs": runs}
