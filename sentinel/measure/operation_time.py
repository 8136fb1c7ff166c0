"""The share of its time that a job spends inside a communicator's operations."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.measure.labels import Labels
from sentinel.measure.sampling import sampling_scale
from sentinel.measure.window import Window
from sentinel.model.snapshot import PeerTable
from sentinel.model.vocabulary import Codes

__all__ = ["operation_ratio"]

Floats = npt.NDArray[np.float64]


def operation_ratio(window: Window, messages: PeerTable, comm: Codes) -> Floats:
    """Seconds that the average rank is inside operations, per second, for each code in `comm`, shape (n,); at most 1.

    `messages` are the Sends and Recvs of the window. Where operations are sampled each counts for launched over
    measured of its (communicator, operation). 0 where nothing was measured.
    """
    sent = Labels(comm=messages.comm, rank=messages.rank, op=messages.op)
    launched = window.progress
    scale = sampling_scale(sent, messages.operations, launched.labels, launched.launched, "comm", "op")
    parts = ((window.labels, window.seconds, window.sampling_scale), (sent, messages.seconds, scale))
    spent_in, spent = (np.concatenate(each) for each in zip(*(_spent(*part) for part in parts), strict=True))
    ranks_in = _ranks_in(window.labels, sent)
    number, _ = group_rows(np.concatenate([comm, spent_in, ranks_in]))
    count, asked, told = int(number.max(initial=-1)) + 1, len(comm), len(comm) + len(spent_in)
    total = np.bincount(number[asked:told], spent, count)
    members = np.bincount(number[told:], minlength=count)
    ratio: Floats = np.minimum(1.0, total / (np.maximum(members, 1) * window.length_seconds))[number[:asked]]
    return ratio


def _spent(labels: Labels, seconds: Floats, scale: Floats) -> tuple[Codes, Floats]:
    """Of each (communicator, operation): the communicator, and the seconds of all its ranks."""
    groups = labels.groups("comm", "op")
    return labels["comm"][groups.first], np.bincount(groups.of, seconds, len(groups)) * scale[groups.first]


def _ranks_in(*parts: Labels) -> Codes:
    """The communicators of the ranks that occur, each once."""
    first = [labels.groups("comm", "rank").first for labels in parts]
    comm, rank = (
        np.concatenate([labels[name][rows] for labels, rows in zip(parts, first, strict=True)])
        for name in ("comm", "rank")
    )
    return comm[group_rows(comm, rank)[1]]
