"""The share of its time that a job spends inside a communicator's operations."""

import numpy as np
import numpy.typing as npt

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
    of_comm = np.concatenate([window.comm, messages.comm])
    keys = _packed(of_comm, np.concatenate([window.op, messages.op]))
    operations = np.concatenate([window.operations, messages.operations])
    seconds = np.concatenate([window.seconds, messages.seconds])
    if not len(keys):
        return np.zeros(len(comm))
    progress = window.progress
    known = np.isfinite(progress.launched)
    both = np.concatenate([keys, _packed(progress.comm[known], progress.op[known])])
    unique, place = np.unique(both, return_inverse=True)
    measured = np.bincount(place[: len(keys)], operations, len(unique))
    launched = np.bincount(place[len(keys) :], progress.launched[known], len(unique))
    # Launched falls short of measured only by what was in flight when the window began.
    scale = np.maximum(1.0, launched / np.maximum(measured, 1.0))
    codes, of_code = np.unique(unique >> 32, return_inverse=True)
    spent = np.bincount(of_code, np.bincount(place[: len(keys)], seconds, len(unique)) * scale, len(codes))
    ranks = np.unique(_packed(of_comm, np.concatenate([window.rank, messages.rank])))
    members = np.bincount(np.searchsorted(codes, ranks >> 32), minlength=len(codes))
    ratio = np.minimum(1.0, spent / (np.maximum(members, 1) * window.length_seconds))
    at = np.minimum(np.searchsorted(codes, comm), len(codes) - 1)
    return np.where(codes[at] == comm, ratio[at], 0.0)


def _packed(comm: Codes, number: Codes) -> npt.NDArray[np.int64]:
    """Both in one number: a sort of numbers takes a tenth of the time of a sort of rows."""
    return (comm.astype(np.int64) << 32) + number
