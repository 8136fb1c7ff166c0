"""What each rank waited in, from counters."""

from dataclasses import replace

import numpy as np
import pytest
from cluster.job import Job

from sentinel.measure.labels import Labels
from sentinel.measure.lateness import measure_lateness
from sentinel.measure.traffic import Traffic
from sentinel.measure.waits import COLLECTIVES, Waits, measure_waits
from sentinel.measure.window import Differencer, Progress, Window
from sentinel.model.snapshot import NetworkTable, PeerTable
from sentinel.model.vocabulary import Vocabulary

SECONDS = 2.0


def window_of(job: Job) -> tuple[Window, Vocabulary]:
    differencer = Differencer()
    windows = [differencer.step(snapshot) for snapshot in job.ticks(2)]
    assert windows[-1] is not None
    return windows[-1], job.vocabulary


def moved(job: Job, rows: list[tuple[int, str, int, float, float]]) -> Traffic:
    """Rows: rank, operation, peer, operations, seconds."""
    code = job.vocabulary.code
    table = np.array([(code(job.comm), rank, code(op), peer) for rank, op, peer, *_ in rows], dtype=np.int32)
    counts = np.array([row[3:] for row in rows])
    return Traffic(PeerTable(*table.T, *counts.T), NetworkTable.empty())


def launching(window: Window, job: Job, launched: dict[int, float]) -> Window:
    """The window, with Recvs launched."""
    code, ranks = job.vocabulary.code, np.array(list(launched), dtype=np.int32)
    alike = np.ones(len(ranks), dtype=np.int32)
    progress = window.progress
    return replace(
        window,
        progress=Progress(
            Labels(
                comm=np.concatenate([progress.comm, alike * code(job.comm)]),
                rank=np.concatenate([progress.rank, ranks]),
                op=np.concatenate([progress.op, alike * code("Recv")]),
            ),
            np.concatenate([progress.launched, list(launched.values())]),
            np.concatenate([progress.total, list(launched.values())]),
        ),
    )


def of(waits: Waits, rank: int, peer: int) -> tuple[float, float]:
    (row,) = np.flatnonzero((waits.rank == rank) & (waits.peer == peer))
    return waits.inside_ratio[row], waits.late_ratio[row]


def received(job: Job, rows: list[tuple[int, str, int, float, float]], launched: dict[int, float]) -> dict:
    window, vocabulary = window_of(job)
    traffic = moved(job, rows)
    window = launching(window, job, launched)
    waits = measure_waits(window, measure_lateness(window, vocabulary, 5), traffic, vocabulary)
    return {
        (rank, peer): round(ratio, 6)
        for rank, peer, ratio in zip(waits.rank.tolist(), waits.peer.tolist(), waits.inside_ratio.tolist(), strict=True)
        if peer != COLLECTIVES
    }


def test_time_in_recv_by_peer_counts_what_nobody_timed() -> None:
    job = Job()
    rows = [(3, "Recv", 2, 10.0, 0.05), (3, "Recv", 4, 10.0, 0.1), (5, "Recv", 4, 8.0, 0.2), (5, "Send", 6, 8.0, 9.0)]
    # Rank 3 launched 80 and timed 20; of rank 5 it is not known.
    assert received(job, rows, {3: 80.0, 5: np.nan}) == {(3, 2): 0.1, (3, 4): 0.2, (5, 4): 0.1}
    # What was in flight when the window began was launched before.
    assert received(job, rows[2:3], {5: 7.0}) == {(5, 4): 0.1}


def test_peers_that_were_folded_together_are_nobody() -> None:
    assert received(Job(), [(3, "Recv", -1, 10.0, 0.05), (3, "Recv", 4, 10.0, 0.1)], {3: 20.0}) == {(3, 4): 0.05}


def test_nothing_received() -> None:
    assert received(Job(), [(5, "Send", 6, 8.0, 9.0)], {}) == {}


def test_time_in_collectives_and_lateness_add_up_over_cells() -> None:
    job = Job()
    job.delay_seconds[3] = 0.001
    window, vocabulary = window_of(job)
    lateness = measure_lateness(window, vocabulary, 5)
    waits = measure_waits(window, lateness, Traffic(PeerTable.empty(), NetworkTable.empty()), vocabulary)
    assert len(waits.rank) == job.nranks
    mine = window.rank == 5
    assert of(waits, 5, COLLECTIVES)[0] == pytest.approx(window.seconds[mine].sum() / SECONDS)
    # A millisecond of each step of eleven.
    assert of(waits, 3, COLLECTIVES)[1] == pytest.approx(1 / 11, rel=0.1)
    assert of(waits, 5, COLLECTIVES)[1] < 0.01
