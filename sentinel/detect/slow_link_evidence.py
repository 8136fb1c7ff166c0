"""Why a link is called slow, in numbers that a person can check."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sentinel.detect.culprit import culprit_of
from sentinel.detect.slow_link import SlowSeries
from sentinel.measure.membership import Communicator, Member
from sentinel.measure.peers import peers_median
from sentinel.measure.step_times import DECISIVE, StepTimes
from sentinel.model.incident import Finding, Verdict
from sentinel.model.snapshot import NetworkTable
from sentinel.model.vocabulary import Vocabulary

__all__ = ["slow_link_finding"]

_KINDS = {"send": "slow_sender", "recv": "slow_receiver_host"}
_STATES_SHOWN = 12


def slow_link_finding(
    series: Sequence[SlowSeries],
    times: StepTimes,
    network: NetworkTable,
    communicator: Communicator,
    member: Member,
    vocabulary: Vocabulary,
) -> Finding:
    """The finding about one process, from its slow links, the most costly one first.

    `communicator` and `member` are of that link. Links work at the same time, so their costs are not added.
    """
    worst = series[0]
    place = worst.place
    direction = vocabulary.text(times.direction[place])
    peer = communicator.members.get(int(times.peer[place]))
    return Finding(
        culprit=culprit_of(Verdict.SLOW_LINK, communicator, [member]),
        cost_ratio=min(1.0, worst.cost_ratio),
        started_at=min(each.started_at for each in series),
        victims=len(communicator.members) - 1,
        evidence={
            "kind": _KINDS[direction],
            "rank_in_communicator": member.rank,
            "gpu_uuid": member.gpu_uuid,
            "direction": direction,
            "state": DECISIVE[direction],
            "peer_in_communicator": int(times.peer[place]),
            "peer_rank": None if peer is None else peer.global_rank,
            "peer_node": None if peer is None else peer.node,
            "step_seconds": _rounded(times.step_seconds[place]),
            "peers_step_seconds": _rounded(times.peers_seconds[place]),
            "times_as_long": round(worst.ratio, 2),
            "steps": round(float(times.steps[place])),
            "test": "own history and peers, CUSUM" if worst.cusum >= worst.cusum_threshold else "far from its peers",
            "sigmas_from_own_history": round(worst.sigmas, 2) if worst.known else None,
            "sigmas_from_peers": None if np.isnan(worst.stands_out) else round(worst.stands_out, 2),
            "cusum": round(worst.cusum, 2) if worst.known else None,
            "cusum_threshold": round(worst.cusum_threshold, 2) if worst.known else None,
            "states": _states(int(times.comm[place]), int(times.rank[place]), network, vocabulary),
            "slow_links": [_link(each, times, vocabulary) for each in series],
        },
    )


def _states(comm: int, rank: int, network: NetworkTable, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """What all steps of a rank did in the window, beside what those of the others did; most seconds first."""
    here = np.flatnonzero(network.comm == comm)
    step_seconds = network.seconds[here] / network.steps[here]
    labels = np.stack([network.direction[here], network.state[here]], axis=1)
    _, group = np.unique(labels, axis=0, return_inverse=True)
    others = peers_median(step_seconds, group.reshape(-1).astype(np.int64))
    mine = np.flatnonzero(network.rank[here] == rank)
    order = mine[np.argsort(-network.seconds[here][mine], kind="stable")][:_STATES_SHOWN]
    return [
        {
            "direction": vocabulary.text(network.direction[here[at]]),
            "state": vocabulary.text(network.state[here[at]]),
            "peer_in_communicator": int(network.peer[here[at]]),
            "steps": round(float(network.steps[here[at]])),
            "step_seconds": _rounded(step_seconds[at]),
            "peers_step_seconds": None if np.isnan(others[at]) else _rounded(others[at]),
        }
        for at in order.tolist()
    ]


def _link(series: SlowSeries, times: StepTimes, vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "comm": vocabulary.text(times.comm[series.place]),
        "peer_in_communicator": int(times.peer[series.place]),
        "direction": vocabulary.text(times.direction[series.place]),
        "step_seconds": _rounded(times.step_seconds[series.place]),
        "peers_step_seconds": _rounded(times.peers_seconds[series.place]),
    }


def _rounded(seconds: float) -> float:
    """To a tenth of a microsecond."""
    return round(float(seconds), 7)
