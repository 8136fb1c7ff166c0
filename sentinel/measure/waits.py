"""What each rank waited in, as a share of time: in Recv for a peer, in collectives for whoever is last."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.labels import Labels
from sentinel.measure.lateness import Lateness
from sentinel.measure.sampling import sampling_scale
from sentinel.measure.traffic import Traffic
from sentinel.measure.window import Window
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["COLLECTIVES", "Waits", "measure_waits"]

Floats = npt.NDArray[np.float64]

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
    ranks = lateness.labels.groups("comm", "rank")
    count = len(ranks)
    inside = np.bincount(ranks.of, weights=lateness.mean_seconds * lateness.rate, minlength=count)
    late = np.bincount(ranks.of, weights=np.maximum(0.0, lateness.wait_seconds) * lateness.rate, minlength=count)
    return Waits(
        comm=np.concatenate([received.comm, lateness.comm[ranks.first]]),
        rank=np.concatenate([received.rank, lateness.rank[ranks.first]]),
        peer=np.concatenate([received.peer, np.full(count, COLLECTIVES, dtype=np.int32)]),
        inside_ratio=np.concatenate([received.inside_ratio, inside]),
        late_ratio=np.concatenate([received.late_ratio, late]),
    )


def _received(window: Window, traffic: Traffic, vocabulary: Vocabulary) -> Waits:
    peers, progress, receive = traffic.peers, window.progress, vocabulary.find("Recv")
    is_recv, launching = (op == (-1 if receive is None else receive) for op in (peers.op, progress.op))
    comm, rank, peer = (column[is_recv] for column in (peers.comm, peers.rank, peers.peer))
    scale = sampling_scale(
        Labels(comm=comm, rank=rank),
        peers.operations[is_recv],
        progress.labels.where(launching),
        progress.launched[launching],
        *("comm", "rank"),
    )
    inside = peers.seconds[is_recv] * scale / window.span_seconds(comm, rank)
    known = peer >= 0
    return Waits(comm[known], rank[known], peer[known], inside[known], np.zeros(int(known.sum())))
