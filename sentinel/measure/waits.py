"""What each rank waited in, as a share of time: in Recv for a peer, in collectives for whoever is last."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import group_rows
from sentinel.measure.lateness import Lateness
from sentinel.measure.traffic import Traffic
from sentinel.measure.window import Window
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["COLLECTIVES", "Waits", "measure_waits"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

COLLECTIVES = -1  # in the place of a peer: all synchronizing collectives of the communicator


@dataclass(frozen=True)
class Waits:
    """One row per (comm, rank, peer), no row twice; shape (n,).

    `peer` is the rank that a Recv is from, or COLLECTIVES. `inside_ratio` is time inside these operations, seconds per
    second of the job: the wait, the transfer, and in a Recv the sender's normal pace. `late_ratio` is how much later
    than its peers the rank comes to the collectives, in the same unit, over the cells in which it is late; 0 for Recvs.
    """

    comm: Codes
    rank: Codes
    peer: Codes
    inside_ratio: Floats
    late_ratio: Floats


def measure_waits(window: Window, lateness: Lateness, traffic: Traffic, vocabulary: Vocabulary) -> Waits:
    """The waits of one window. Operations that sampling left out count, as launched over measured.

    What was received from peers that the exporter folded together is left out: nobody knows whom it was for.
    """
    received = _received(window, traffic, vocabulary)
    keys, row = _grouped(lateness.comm, lateness.rank)
    inside = np.bincount(row, weights=lateness.mean_seconds * lateness.rate, minlength=len(keys))
    late = np.bincount(row, weights=np.maximum(0.0, lateness.wait_seconds) * lateness.rate, minlength=len(keys))
    return Waits(
        comm=np.concatenate([received.comm, keys[:, 0]]),
        rank=np.concatenate([received.rank, keys[:, 1]]),
        peer=np.concatenate([received.peer, np.full(len(keys), COLLECTIVES, dtype=np.int32)]),
        inside_ratio=np.concatenate([received.inside_ratio, inside]),
        late_ratio=np.concatenate([received.late_ratio, late]),
    )


def _received(window: Window, traffic: Traffic, vocabulary: Vocabulary) -> Waits:
    peers, receive = traffic.peers, vocabulary.find("Recv")
    is_recv = peers.op == (-1 if receive is None else receive)
    keys, of_rank = _grouped(peers.comm[is_recv], peers.rank[is_recv])
    measured = np.bincount(of_rank, weights=peers.operations[is_recv], minlength=len(keys)).astype(np.float64)
    launched = _launched(window, -1 if receive is None else receive, keys)
    # Launched falls short of measured only by what was in flight when the window began.
    scale = np.fmax(1.0, np.divide(launched, measured, out=np.ones_like(measured), where=measured > 0))
    inside = peers.seconds[is_recv] * scale[of_rank] / window.span_seconds(peers.comm[is_recv], peers.rank[is_recv])
    known = peers.peer[is_recv] >= 0
    comm, rank, peer = (column[is_recv][known] for column in (peers.comm, peers.rank, peers.peer))
    return Waits(comm, rank, peer, inside[known], np.zeros(len(comm)))


def _launched(window: Window, op: int, keys: Codes) -> Floats:
    """Operations of one kind that each (comm, rank) launched; NaN where that is not known. keys: shape (m, 2)."""
    progress = window.progress
    mine = progress.op == op
    both, row = _grouped(
        np.concatenate([keys[:, 0], progress.comm[mine]]), np.concatenate([keys[:, 1], progress.rank[mine]])
    )
    launched = np.full(len(both), np.nan)
    launched[row[len(keys) :]] = progress.launched[mine]
    return launched[row[: len(keys)]]


def _grouped(comm: Codes, rank: Codes) -> tuple[Codes, Rows]:
    """The distinct (comm, rank), shape (m, 2), and the number of each row's."""
    row, first = group_rows(comm, rank)
    return np.stack([comm[first], rank[first]], axis=1), row
